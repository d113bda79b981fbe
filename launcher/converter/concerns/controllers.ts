import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf, virtioModel } from '../architecture.ts';
import { attached, type Concern } from '../concern.ts';
import type { Controller } from '../domain.ts';
import { busOf } from '../disk-bus.ts';
import { hasOwnThread, ioThreadPlan } from '../io-threads.ts';
import { vcpuCount } from '../topology.ts';

/** Annotation that takes the 64-bit PCI hole away from old guests ("true"). */
const PCI_HOLE_ANNOTATION = 'kubevirt.io/disablePCIHole64';

function needsUsb(vmi: VirtualMachineInstance): boolean {
  const { inputs = [], disks = [], clientPassthrough } = vmi.spec.domain.devices;
  return (
    architectureOf(vmi).usbController ??
    (inputs.some(({ bus }) => !bus || bus === 'usb') ||
      disks.some(({ disk }) => disk?.bus === 'usb') ||
      clientPassthrough !== undefined)
  );
}

/** SCSI disks share their controller's thread: the one that the next disk in turn would get. */
function scsiThread(vmi: VirtualMachineInstance): Controller['driver'] {
  const disks = vmi.spec.domain.devices.disks ?? [];
  const shared = ioThreadPlan(vmi)?.shared ?? 0;
  if (shared === 0 || !disks.some((disk) => busOf(disk) === 'scsi' && hasOwnThread(disk))) return undefined;
  const before = disks.filter((disk) => busOf(disk) === 'virtio' && !hasOwnThread(disk)).length;
  return { '@iothread': (before % shared) + 1, '@queues': Math.max(vcpuCount(vmi), 1) };
}

/** Controllers that the devices need; a SCSI one also for disks that may be plugged in later. USB is off unless needed: it keeps idle hosts awake. */
export const controllers: Concern = (vmi) => {
  const { devices } = vmi.spec.domain;
  const architecture = architectureOf(vmi);
  const model = virtioModel(vmi);
  const scsi = devices.disableHotplug !== true || (devices.disks ?? []).some((disk) => busOf(disk) === 'scsi');
  const smallHole =
    vmi.spec.architecture === 'amd64' && vmi.metadata?.annotations?.[PCI_HOLE_ANNOTATION]?.toLowerCase() === 'true';
  const controller: Controller[] = [{ '@type': 'usb', '@index': 0, '@model': needsUsb(vmi) ? 'qemu-xhci' : 'none' }];
  if (scsi)
    controller.push({
      '@type': 'scsi',
      '@index': 0,
      '@model': architecture.scsiController ?? model,
      driver: scsiThread(vmi),
    });
  if (smallHole)
    controller.push({ '@type': 'pci', '@index': 0, '@model': 'pcie-root', pcihole64: { '@unit': 'KiB', '#text': 0 } });
  if (attached(devices.autoattachSerialConsole))
    controller.push({ '@type': 'virtio-serial', '@index': 0, '@model': model });
  return { devices: { controller } };
};
