import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { hasGate } from '../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isSev } from './traits.ts';

const PREFIX = 'devices.kubevirt.io';
export const KVM = `${PREFIX}/kvm`;
export const TUN = `${PREFIX}/tun`;
export const VHOST_NET = `${PREFIX}/vhost-net`;
const VHOST_VSOCK = `${PREFIX}/vhost-vsock`;

type Emulation = Pick<ClusterConfig, 'useEmulation'>;

/** Devices of the node that the guest always needs: limits only, as for every extended resource Kubernetes adds the request. */
export const hypervisorDevices = (
  { spec }: VirtualMachineInstance,
  { useEmulation }: Emulation,
): Record<string, string> => {
  const { interfaces = [], autoattachPodInterface, autoattachVSOCK } = spec.domain.devices;
  const virtio = interfaces.some(({ model }) => !model || model === 'virtio');
  return {
    ...(interfaces.length > 0 || autoattachPodInterface !== false ? { [TUN]: '1' } : {}),
    ...(virtio && !useEmulation ? { [VHOST_NET]: '1' } : {}),
    ...(useEmulation ? {} : { [KVM]: '1' }),
    ...(autoattachVSOCK === true ? { [VHOST_VSOCK]: '1' } : {}),
  };
};

/** Further devices, counted, for requests and limits alike: passed-through ones and those of optional features. */
export const extraDevices = (vmi: VirtualMachineInstance, config: ClusterConfig): Record<string, number> => {
  const { devices, launchSecurity } = vmi.spec.domain;
  const { gpus = [], hostDevices = [], disks = [] } = devices;
  const names = [
    ...[...gpus, ...hostDevices].map(({ deviceName }) => deviceName).filter((name) => name !== ''),
    ...(isSev(vmi) ? [`${PREFIX}/sev`] : []),
    ...(launchSecurity?.tdx === undefined ? [] : [`${PREFIX}/tdx`]),
    ...(disks.some(({ lun }) => lun?.reservation === true) ? [`${PREFIX}/pr-helper`] : []),
    ...(hasGate(config, 'IOMMUFD') ? [`${PREFIX}/iommufd`] : []),
  ];
  const counts: Record<string, number> = {};
  for (const name of names) if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
