import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** Bus of disks that name none; elsewhere SATA. */
const BUSES: Record<string, string> = { arm64: 'virtio', s390x: 'virtio' };

/** What differs between the architectures of guests: buses, watchdog, firmware, CPU model. */
export const completeArchitecture = (spec: VirtualMachineInstanceSpec): void => {
  completeDiskDevices(spec, BUSES[spec.architecture ?? ''] ?? 'sata');
  completeInputs(spec);
  if (spec.architecture === 'arm64') completeArm(spec);
  else completeWatchdog(spec);
};

/** A disk of no kind is a plain disk; a CD-ROM is read-only and closed. */
const completeDiskDevices = ({ domain }: VirtualMachineInstanceSpec, bus: string): void => {
  for (const disk of domain.devices.disks ?? []) {
    if (disk.disk === undefined && disk.cdrom === undefined && disk.lun === undefined) disk.disk = {};
    for (const device of [disk.disk, disk.cdrom, disk.lun]) if (device !== undefined) device.bus ||= bus;
    if (disk.cdrom !== undefined) {
      disk.cdrom.readonly ??= true;
      disk.cdrom.tray ||= 'closed';
    }
    const match = disk.blockSize?.matchVolume;
    if (match !== undefined) match.enabled ??= true;
  }
};

const completeInputs = ({ domain }: VirtualMachineInstanceSpec): void => {
  for (const input of domain.devices.inputs ?? []) {
    input.bus ||= 'usb';
    input.type ||= 'tablet';
  }
};

/** A watchdog that is mentioned gets the architecture's device and resets the guest. */
const completeWatchdog = ({ architecture, domain }: VirtualMachineInstanceSpec): void => {
  const { watchdog } = domain.devices;
  if (watchdog === undefined) return;
  const device = architecture === 's390x' ? (watchdog.diag288 ??= {}) : (watchdog.i6300esb ??= {});
  device.action ||= 'reset';
};

/** Arm guests boot by EFI, without Secure Boot, on the host's own CPU. */
const completeArm = ({ domain }: VirtualMachineInstanceSpec): void => {
  const firmware = (domain.firmware ??= {});
  firmware.bootloader ??= { efi: {} };
  if (firmware.bootloader.efi !== undefined) firmware.bootloader.efi.secureBoot ??= false;
  const cpu = (domain.cpu ??= {});
  cpu.model ||= 'host-passthrough';
};
