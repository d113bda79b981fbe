import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** A VMI that names neither interface nor network gets the Pod's network, by the cluster's default binding. */
export const completeNetwork = (spec: VirtualMachineInstanceSpec, config: ClusterConfig): void => {
  const { devices } = spec.domain;
  if (devices.autoattachPodInterface === false) return;
  if ((spec.networks ?? []).length > 0 || (devices.interfaces ?? []).length > 0) return;
  const binding = config.defaultNetworkInterface;
  if (binding !== 'bridge' && binding !== 'masquerade') return;
  devices.interfaces = [{ name: 'default', [binding]: {} }];
  spec.networks = [{ name: 'default', pod: {} }];
};
