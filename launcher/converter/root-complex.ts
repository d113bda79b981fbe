import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Devices, Disk, Domain, PciAddress } from './domain.ts';
import { ConversionError } from './errors.ts';
import { pciAt } from './pci-address.ts';

/** Annotation that puts all PCI devices on the root complex ("true"), for guests that need stable, flat addresses. */
const ANNOTATION = 'kubevirt.io/placePCIDevicesOnRootComplex';

/** Slots of the q35 root bus that its own devices take: host bridge, VGA, first sound card, SATA and ISA. */
const RESERVED_SLOTS = [0x00, 0x01, 0x1b, 0x1f];
const SLOTS = 0x20;

/** Gives every PCI device without an address the next free slot of the root bus, in a fixed order of kinds. @throws ConversionError */
export function placeOnRootComplex(domain: Domain, vmi: VirtualMachineInstance): Domain {
  if (vmi.metadata?.annotations?.[ANNOTATION] !== 'true' || vmi.spec.architecture === 's390x') return domain;
  const free = Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => !RESERVED_SLOTS.includes(slot));
  const place = <Device extends { address?: Disk['address'] }>(device: Device): Device => ({
    ...device,
    address: device.address ?? nextAddress(free),
  });
  const { devices } = domain;
  const placed: Devices = {
    interface: devices.interface?.map((device) => place(device)),
    controller: devices.controller?.map((device) => (device['@model'] === 'pcie-root' ? device : place(device))),
    disk: devices.disk?.map((device) => (device.target['@bus'] === 'virtio' ? place(device) : device)),
    input: devices.input?.map((device) => (device['@bus'] === 'virtio' ? place(device) : device)),
    watchdog: devices.watchdog?.map((device) => place(device)),
    rng: devices.rng && place(devices.rng),
    memballoon: devices.memballoon && place(devices.memballoon),
  };
  return { ...domain, devices: { ...devices, ...placed } };
}

function nextAddress(free: number[]): PciAddress {
  const slot = free.shift();
  if (slot === undefined)
    throw new ConversionError(
      `metadata.annotations[${ANNOTATION}]`,
      'the root bus has no slot left for so many devices',
    );
  return pciAt('0000', '00', slot.toString(16).padStart(2, '0'), '0');
}
