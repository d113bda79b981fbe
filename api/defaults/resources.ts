import type { ClusterConfig } from '../cluster-config/index.ts';
import { compareQuantities } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** KubeVirt's built-in CPU request: left to the launcher Pod's own reckoning by vCPU. */
const BUILT_IN_CPU_REQUEST = '100m';

/** True for an absent or zero quantity. */
export const isNone = (quantity: string | undefined): boolean => compareQuantities(String(quantity ?? '0'), '0') === 0;

/** A CPU limit without a request is also the request; a request configured for the cluster goes to VMIs that say nothing. */
export const completeResources = ({ domain }: VirtualMachineInstanceSpec, { cpuRequest }: ClusterConfig): void => {
  const resources = (domain.resources ??= {});
  const limit = resources.limits?.['cpu'];
  if (limit !== undefined && !isNone(limit) && isNone(resources.requests?.['cpu'])) {
    resources.requests = { ...resources.requests, cpu: limit };
  }
  const configured = compareQuantities(cpuRequest, BUILT_IN_CPU_REQUEST) !== 0;
  if (configured && resources.requests?.['cpu'] === undefined && domain.cpu?.dedicatedCpuPlacement !== true) {
    resources.requests = { ...resources.requests, cpu: cpuRequest };
  }
};
