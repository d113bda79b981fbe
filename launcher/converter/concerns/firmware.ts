import { join } from 'node:path/posix';
import { INITRD_IMAGE, KERNEL_IMAGE, NVRAM_FILE, keptNvramFile, secretDirectory } from '../../../api/launcher/paths.ts';
import { keepsEfi } from '../../../api/kubevirt/persistent-state.ts';
import type { Firmware, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf } from '../architecture.ts';
import { given, yesNo, type Concern } from '../concern.ts';
import type { OperatingSystem } from '../domain.ts';
import { ConversionError } from '../errors.ts';

/** Firmware files of the launcher's image. Secure boot needs the variant that keeps its variables in system management mode. */
const OVMF = '/usr/share/OVMF';
const SECURE = { code: `${OVMF}/OVMF_CODE_4M.ms.fd`, variables: `${OVMF}/OVMF_VARS_4M.ms.fd` };
const PLAIN = { code: `${OVMF}/OVMF_CODE_4M.fd`, variables: `${OVMF}/OVMF_VARS_4M.fd` };

/** How long a VMI that starts paused shows its boot menu once it runs. */
const BOOT_MENU_MS = 10_000;

export const bootsEfi = (vmi: VirtualMachineInstance): boolean =>
  vmi.spec.domain.firmware?.bootloader?.efi !== undefined;

function efi(vmi: VirtualMachineInstance): Pick<OperatingSystem, 'loader' | 'nvram'> {
  if (!bootsEfi(vmi)) return {};
  const secure = vmi.spec.domain.firmware?.bootloader?.efi?.secureBoot ?? true;
  const files = secure ? SECURE : PLAIN;
  return {
    loader: { '@readonly': 'yes', '@secure': yesNo(secure), '@type': 'pflash', '#text': files.code },
    nvram: {
      '@template': files.variables,
      '#text': keepsEfi(vmi) ? keptNvramFile(vmi.metadata?.name ?? '') : NVRAM_FILE,
    },
  };
}

/** Arguments without a container stay: libvirt says what is wrong with them. */
function kernel({ kernelBoot }: Firmware): Pick<OperatingSystem, 'kernel' | 'initrd' | 'cmdline'> {
  return {
    kernel: given(kernelBoot?.container?.kernelPath) && KERNEL_IMAGE,
    initrd: given(kernelBoot?.container?.initrdPath) && INITRD_IMAGE,
    cmdline: given(kernelBoot?.kernelArgs),
  };
}

function acpiTables(vmi: VirtualMachineInstance): OperatingSystem['acpi'] {
  const { slicNameRef, msdmNameRef } = vmi.spec.domain.firmware?.acpi ?? {};
  const table = (type: 'slic' | 'msdm', volume: string | undefined) => {
    if (!volume) return [];
    if (!vmi.spec.volumes?.find(({ name }) => name === volume)?.secret)
      throw new ConversionError(
        `spec.domain.firmware.acpi.${type}NameRef`,
        `"${volume}" is not a volume of type secret`,
      );
    return [{ '@type': type, '#text': join(secretDirectory(volume), `${type}.bin`) }];
  };
  const tables = [...table('slic', slicNameRef), ...table('msdm', msdmNameRef)];
  return tables.length === 0 ? undefined : { table: tables };
}

/** Machine, boot loader or kernel, ACPI tables, boot menu. */
export const firmware: Concern = (vmi) => {
  const architecture = architectureOf(vmi);
  const spec = vmi.spec.domain.firmware ?? {};
  return {
    os: {
      type: {
        '@arch': architecture.libvirtName,
        '@machine': vmi.spec.domain.machine?.type || architecture.defaultMachine,
        '#text': 'hvm',
      },
      ...efi(vmi),
      ...kernel(spec),
      acpi: acpiTables(vmi),
      smbios: architecture.hasSmbios ? { '@mode': 'sysinfo' } : undefined,
      bootmenu: vmi.spec.startStrategy === 'Paused' ? { '@enable': 'yes', '@timeout': BOOT_MENU_MS } : undefined,
      bios: spec.bootloader?.bios?.useSerial === true ? { '@useserial': 'yes' } : undefined,
    },
  };
};
