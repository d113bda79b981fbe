import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { ConversionError } from './errors.ts';

/** What differs between the architectures of guests. */
export interface Architecture {
  /** libvirt's name. */
  libvirtName: string;
  defaultMachine: string;
  /** Paravirtual devices on PCI have transitional and modern models, those on other buses just one. */
  hasPciVirtio: boolean;
  scsiController?: string;
  /** Unset: only when a device needs it. */
  usbController?: boolean;
  hasSmbios: boolean;
  hasRomTuning: boolean;
  hasVmPort: boolean;
  hasCpuHotplug: boolean;
  hasMemfd: boolean;
  /** x86 CPU models name the retired feature mpx, which current hosts lack: libvirt would refuse the model. */
  retiresMpx: boolean;
}

const ARCHITECTURES: Record<string, Architecture> = {
  amd64: {
    libvirtName: 'x86_64',
    defaultMachine: 'q35',
    hasPciVirtio: true,
    hasSmbios: true,
    hasRomTuning: true,
    hasVmPort: true,
    hasCpuHotplug: true,
    hasMemfd: true,
    retiresMpx: true,
  },
  arm64: {
    libvirtName: 'aarch64',
    defaultMachine: 'virt',
    hasPciVirtio: true,
    usbController: true,
    hasSmbios: true,
    hasRomTuning: true,
    hasVmPort: false,
    hasCpuHotplug: false,
    hasMemfd: true,
    retiresMpx: false,
  },
  s390x: {
    libvirtName: 's390x',
    defaultMachine: 's390-ccw-virtio',
    hasPciVirtio: false,
    scsiController: 'virtio-scsi',
    usbController: false,
    hasSmbios: false,
    hasRomTuning: false,
    hasVmPort: false,
    hasCpuHotplug: true,
    hasMemfd: false,
    retiresMpx: false,
  },
};

/** @throws ConversionError */
export function architectureOf(vmi: VirtualMachineInstance): Architecture {
  const name = vmi.spec.architecture ?? 'amd64';
  const architecture = ARCHITECTURES[name];
  if (architecture === undefined)
    throw new ConversionError('spec.architecture', `"${name}" is not one of ${Object.keys(ARCHITECTURES).join(', ')}`);
  return architecture;
}

/** Model of the VMI's paravirtual devices. */
export function virtioModel(vmi: VirtualMachineInstance): string {
  if (!architectureOf(vmi).hasPciVirtio) return 'virtio';
  return vmi.spec.domain.devices.useVirtioTransitional === true ? 'virtio-transitional' : 'virtio-non-transitional';
}
