import type { ClusterConfig } from '../cluster-config/index.ts';
import type { Firmware, KernelBoot, VirtualMachineInstanceSpec, Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';
import { isFilePath } from './formats.ts';

const BOOTLOADER = 'spec.domain.firmware.bootloader';
const KERNEL = 'spec.domain.firmware.kernelBoot';

/** The machine, and one way of booting it. */
export const bootRules: Rule = ({ spec }, config) => {
  const { firmware = {} } = spec.domain;
  const { kernelBoot, bootloader } = firmware;
  return [
    ...machine(spec, config),
    ...acpiTables(firmware, spec.volumes ?? []),
    ...when(bootloader?.bios !== undefined && bootloader.efi !== undefined, () =>
      invalid(BOOTLOADER, 'it is bios or efi: keep one'),
    ),
    ...secureBoot(spec),
    ...(kernelBoot === undefined ? [] : kernelRules(kernelBoot)),
  ];
};

const machine = ({ architecture, domain }: VirtualMachineInstanceSpec, config: ClusterConfig): Cause[] => {
  const { type } = domain.machine ?? {};
  const { emulatedMachines } = config;
  const patterns =
    architecture === 'arm64' || architecture === 's390x' ? emulatedMachines[architecture] : emulatedMachines.amd64;
  return when(Boolean(type) && !patterns.some((pattern) => matches(pattern, type ?? '')), () =>
    invalid('spec.domain.machine.type', `"${type}" is not offered by the cluster: use one of ${patterns.join(', ')}`),
  );
};

/** A pattern of a shell, such as pc-q35*. */
const matches = (pattern: string, text: string): boolean => {
  const escaped = pattern
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\*/g, '[^/]*')
    .replace(/\?/g, '[^/]');
  return new RegExp(`^${escaped}$`).test(text);
};

/** Tables with licences come from Secrets. */
const acpiTables = ({ acpi }: Firmware, volumes: Volume[]): Cause[] => {
  if (acpi === undefined) return [];
  const { slicNameRef = '', msdmNameRef = '' } = acpi;
  const reference = (field: string, name: string): Cause[] => {
    const volume = volumes.find((given) => given.name === name);
    return when(name !== '' && volume?.secret === undefined, () =>
      invalid(
        `spec.acpi.${field}`,
        volume === undefined ? `no volume is named "${name}": add it to spec.volumes` : `volume "${name}" is no secret`,
      ),
    );
  };
  return [
    ...when(slicNameRef === '' && msdmNameRef === '', () =>
      invalid('spec.acpi', 'name a volume in slicNameRef or msdmNameRef of spec.domain.firmware.acpi, or drop it'),
    ),
    ...reference('slicNameRef', slicNameRef),
    ...reference('msdmNameRef', msdmNameRef),
  ];
};

/** Secure Boot keeps its variables safe by system management mode; TDX has them in its firmware. */
const secureBoot = ({ domain }: VirtualMachineInstanceSpec): Cause[] => {
  const { efi } = domain.firmware?.bootloader ?? {};
  const { smm } = domain.features ?? {};
  const needsSmm = efi !== undefined && efi.secureBoot !== false && domain.launchSecurity?.tdx === undefined;
  return when(needsSmm && (smm === undefined || smm.enabled === false), () =>
    invalid('spec.domain', 'Secure Boot needs features.smm: {}; or set firmware.bootloader.efi.secureBoot to false'),
  );
};

const kernelRules = ({ kernelArgs, container }: KernelBoot): Cause[] => {
  if (container === undefined)
    return when(Boolean(kernelArgs), () =>
      invalid(`${KERNEL}.kernelArgs`, 'arguments need a kernel: name its image in kernelBoot.container'),
    );
  const { image, kernelPath, initrdPath } = container;
  const path = (name: string, value: string | undefined): Cause[] =>
    when(Boolean(value) && !isFilePath(value ?? ''), () =>
      invalid(`${KERNEL}.container.${name}`, `"${value}" must be the absolute path of a file in the image`),
    );
  return [
    ...when(!image, () => required(`${KERNEL}.container.image`, 'name the image that holds kernel and initrd')),
    ...when(!kernelPath && !initrdPath, () => required(`${KERNEL}.container`, 'name kernelPath, initrdPath or both')),
    ...path('kernelPath', kernelPath),
    ...path('initrdPath', initrdPath),
  ];
};
