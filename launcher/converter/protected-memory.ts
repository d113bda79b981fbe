import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Disk, Domain, Interface } from './domain.ts';

/** The memory of a protected guest is not the host's to read: its paravirtual devices reach it through an IOMMU (Secure Execution). */
export function withProtectedMemory(domain: Domain, { spec }: VirtualMachineInstance): Domain {
  if (spec.domain.launchSecurity === undefined || spec.architecture !== 's390x') return domain;
  const { devices } = domain;
  return {
    ...domain,
    devices: {
      ...devices,
      interface: devices.interface?.map(protectedInterface),
      disk: devices.disk?.map(protectedDisk),
      controller: devices.controller?.map((controller) =>
        ['scsi', 'virtio-serial'].includes(controller['@type'])
          ? { ...controller, driver: { ...controller.driver, '@iommu': 'on' } }
          : controller,
      ),
      memballoon:
        devices.memballoon === undefined || devices.memballoon['@model'] === 'none'
          ? devices.memballoon
          : { ...devices.memballoon, driver: { '@iommu': 'on' } },
    },
  };
}

const protectedDisk = (disk: Disk): Disk =>
  disk.target['@bus'] === 'virtio' ? { ...disk, driver: { ...disk.driver, '@iommu': 'on' } } : disk;

const protectedInterface = (nic: Interface): Interface =>
  nic.model['@type'].startsWith('virtio')
    ? { ...nic, driver: { '@name': 'vhost', ...nic.driver, '@iommu': 'on' } }
    : nic;
