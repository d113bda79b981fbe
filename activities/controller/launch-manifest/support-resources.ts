import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { EPHEMERAL_STORAGE_OVERHEAD } from './resources.ts';
import type { Resources } from './resources.ts';
import { isGuaranteed } from './traits.ts';

type Kind = 'container-disk' | 'guest-console-log';
type CpuAndMemory = { cpu: string; memory: string };

/** KubeVirt's sizes of helper containers, by what they do. */
const DEFAULTS = {
  consoleLog: { requests: { cpu: '5m', memory: '35M' }, limits: { cpu: '15m', memory: '60M' } },
  image: { requests: { cpu: '1m', memory: '1M' }, limits: { cpu: '10m', memory: '40M' } },
  copy: { requests: { cpu: '10m', memory: '1M' }, limits: { cpu: '100m', memory: '40M' } },
} satisfies Record<string, { requests: CpuAndMemory; limits: CpuAndMemory }>;

/** The container that prints the guest's serial console. */
export const consoleLogResources = (vmi: VirtualMachineInstance, config: ClusterConfig): Resources =>
  sized(DEFAULTS.consoleLog, 'guest-console-log', vmi, config);

/** A container that does nothing but hold the user's image. */
export const imageResources = (vmi: VirtualMachineInstance, config: ClusterConfig): Resources => {
  const { requests, limits } = sized(DEFAULTS.image, 'container-disk', vmi, config);
  return { requests: { ...requests, 'ephemeral-storage': EPHEMERAL_STORAGE_OVERHEAD }, limits };
};

/** The init container that copies one small program. Beside guaranteed Pods it is held to the smaller limit. */
export const copyResources = (vmi: VirtualMachineInstance, config: ClusterConfig): Resources => {
  const limits = isGuaranteed(vmi) ? DEFAULTS.image.limits : DEFAULTS.copy.limits;
  return sized({ requests: DEFAULTS.copy.requests, limits }, 'container-disk', vmi, config);
};

/** Defaults, overridden by the cluster's `supportContainerResources`; requests equal limits beside a guaranteed or pinned guest. */
const sized = (
  defaults: { requests: CpuAndMemory; limits: CpuAndMemory },
  kind: Kind,
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): Resources => {
  const configured = config.supportContainers[kind];
  const limits = { ...defaults.limits, ...configured?.limits };
  const requests = { ...defaults.requests, ...configured?.requests };
  return isGuaranteed(vmi)
    ? { requests: { ...requests, cpu: limits.cpu, memory: limits.memory }, limits }
    : { requests, limits };
};
