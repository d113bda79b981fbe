import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, oneOf, unsupported, when } from './cause.ts';

const DEVICES = 'spec.domain.devices';

type ArchitectureRule = (spec: VirtualMachineInstanceSpec) => Cause[];

/** What guests of an architecture can have. */
export const architectureRules: Rule = ({ spec }) => {
  const { architecture = '' } = spec;
  const rule = RULES[architecture];
  return rule === undefined
    ? [invalid('spec.architecture', `"${architecture}" is unknown: use ${Object.keys(RULES).join(', ')}`)]
    : rule(spec);
};

const video = ({ domain }: VirtualMachineInstanceSpec, ...types: string[]): Cause[] =>
  domain.devices.video === undefined
    ? []
    : oneOf(`${DEVICES}.video.type`, domain.devices.video.type ?? '', types, unsupported);

const amd64: ArchitectureRule = (spec) => {
  const { watchdog } = spec.domain.devices;
  const other = watchdog !== undefined && (watchdog.i6300esb === undefined || watchdog.diag288 !== undefined);
  return [
    ...when(other, () => unsupported(`${DEVICES}.watchdog`, 'amd64 has one kind of watchdog: use i6300esb')),
    ...video(spec, 'vga', 'cirrus', 'virtio', 'ramfb', 'bochs'),
  ];
};

const s390x: ArchitectureRule = (spec) => {
  const { watchdog } = spec.domain.devices;
  const other = watchdog !== undefined && (watchdog.diag288 === undefined || watchdog.i6300esb !== undefined);
  return [
    ...when(other, () => unsupported(`${DEVICES}.watchdog`, 's390x has one kind of watchdog: use diag288')),
    ...video(spec, 'virtio'),
  ];
};

const arm64: ArchitectureRule = (spec) => {
  const { cpu, devices, firmware } = spec.domain;
  return [
    ...when(firmware?.bootloader?.bios !== undefined, () =>
      unsupported('spec.domain.firmware.bootloader.bios', 'arm64 guests boot by EFI: use efi'),
    ),
    ...when(Boolean(cpu?.model) && cpu?.model !== 'host-passthrough', () =>
      unsupported('spec.domain.cpu.model', 'arm64 guests have the host’s CPU: use host-passthrough, or drop it'),
    ),
    ...(devices.disks ?? []).flatMap((disk, index) =>
      (['disk', 'cdrom', 'lun'] as const).flatMap((kind) =>
        when(!['', 'virtio', 'scsi'].includes(disk[kind]?.bus ?? ''), () =>
          unsupported(
            `${DEVICES}.disks[${index}].${kind}.bus`,
            `arm64 has no bus ${disk[kind]?.bus}: use virtio or scsi`,
          ),
        ),
      ),
    ),
    ...when(devices.watchdog !== undefined, () => unsupported(`${DEVICES}.watchdog`, 'arm64 has no watchdog: drop it')),
    ...when(devices.sound !== undefined, () => unsupported(`${DEVICES}.sound`, 'arm64 has no sound: drop it')),
    ...video(spec, 'virtio', 'ramfb'),
  ];
};

const RULES: Record<string, ArchitectureRule> = { amd64, arm64, s390x };
