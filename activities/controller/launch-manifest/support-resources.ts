import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { LaunchInput } from './input.ts';
import { EPHEMERAL_STORAGE_OVERHEAD, computeResources } from './resources.ts';
import type { Resources } from './resources.ts';
import { isGuaranteed, isZero } from './traits.ts';

/** Types of helper containers, as the KubeVirt object calls them. */
type Type = 'container-disk' | 'guest-console-log' | 'hotplug-disk' | 'virtiofs';

type CpuAndMemory = { cpu: string; memory: string };
interface Sizes {
  requests: CpuAndMemory;
  limits: CpuAndMemory;
}

/** KubeVirt's sizes of helper containers, by what they do. */
const DEFAULTS = {
  consoleLog: { requests: { cpu: '5m', memory: '35M' }, limits: { cpu: '15m', memory: '60M' } },
  image: { requests: { cpu: '1m', memory: '1M' }, limits: { cpu: '10m', memory: '40M' } },
  copy: { requests: { cpu: '10m', memory: '1M' }, limits: { cpu: '100m', memory: '40M' } },
  filesystem: { requests: { cpu: '10m', memory: '1M' }, limits: { cpu: '100m', memory: '80M' } },
  attachment: { requests: { cpu: '10m', memory: '2M' }, limits: { cpu: '100m', memory: '80M' } },
} satisfies Record<string, Sizes>;

/** The container that prints the guest's serial console. */
export const consoleLogResources = (input: LaunchInput): Resources =>
  sized(DEFAULTS.consoleLog, 'guest-console-log', input);

/** A container that does nothing but hold, or pull, the user's image. */
export const imageResources = (input: LaunchInput): Resources => {
  const { requests, limits } = sized(DEFAULTS.image, 'container-disk', input);
  return { requests: { ...requests, 'ephemeral-storage': EPHEMERAL_STORAGE_OVERHEAD }, limits };
};

/** The container that copies what image containers wait with. */
export const copyResources = (input: LaunchInput): Resources =>
  sized(isGuaranteed(input.vmi) ? DEFAULTS.image : DEFAULTS.copy, 'container-disk', input);

/** A container that serves a directory to the guest. */
export const filesystemResources = (input: LaunchInput): Resources => sized(DEFAULTS.filesystem, 'virtiofs', input);

/** The container of a Pod that brings volumes to a running guest. */
export const attachmentResources = (config: Pick<ClusterConfig, 'supportContainers'>): Resources =>
  configured(DEFAULTS.attachment, 'hotplug-disk', config);

/** In a launcher Pod requests equal limits beside a guaranteed or pinned guest. */
const sized = (defaults: Sizes, type: Type, input: LaunchInput): Resources => {
  const { requests, limits } = configured(defaults, type, input.config);
  if (isGuaranteed(input.vmi)) return { requests: { ...limits }, limits };
  return { requests, limits: isUnthrottled(type, input) ? { memory: limits.memory } : limits };
};

/** Defaults, overridden value by value by the cluster's `supportContainerResources`, where 0 counts as nothing said: as in KubeVirt. */
const configured = (
  { requests, limits }: Sizes,
  type: Type,
  { supportContainers }: Pick<ClusterConfig, 'supportContainers'>,
): Sizes => ({
  requests: overridden(requests, supportContainers[type]?.requests),
  limits: overridden(limits, supportContainers[type]?.limits),
});

const overridden = (defaults: CpuAndMemory, { cpu, memory }: Partial<CpuAndMemory> = {}): CpuAndMemory => ({
  cpu: cpu === undefined || isZero(cpu) ? defaults.cpu : cpu,
  memory: memory === undefined || isZero(memory) ? defaults.memory : memory,
});

/**
 * A CPU limit of 0 in the cluster's configuration asks for none. Where `compute` has a limit the default one stands all the same: somebody counts limits
 * there, and a quota on them takes no Pod with a container that has none.
 */
const isUnthrottled = (type: Type, input: LaunchInput): boolean => {
  const cpu = input.config.supportContainers[type]?.limits['cpu'];
  return cpu !== undefined && isZero(cpu) && computeResources(input).limits['cpu'] === undefined;
};
