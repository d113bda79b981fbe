import type { Rule } from './obstacle.ts';

/** The owner of a VM says that its guest copes with another address after a migration; its presence counts (KubeVirt). */
export const ALLOW_POD_BRIDGE = 'kubevirt.io/allow-pod-bridge-network-live-migration';

/** The target's Pod has another address: only behind masquerade the guest does not notice. */
export const podNetwork: Rule = ({ metadata, spec }) => {
  const network = spec.networks?.find(({ pod }) => pod !== undefined);
  const nic = spec.domain.devices.interfaces?.find(({ name }) => name === network?.name);
  if (nic === undefined || nic.masquerade !== undefined) return [];
  if (nic.bridge !== undefined && metadata?.annotations?.[ALLOW_POD_BRIDGE] !== undefined) return [];
  const remedy = nic.bridge === undefined ? '' : `, or annotate the VM with ${ALLOW_POD_BRIDGE}`;
  return [
    {
      reason: 'InterfaceNotLiveMigratable',
      message: `interface ${nic.name} keeps no address of the pod network on another node: use masquerade${remedy}`,
    },
  ];
};
