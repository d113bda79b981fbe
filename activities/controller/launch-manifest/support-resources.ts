import type { LaunchInput } from './input.ts';
import { EPHEMERAL_STORAGE_OVERHEAD, computeResources } from './resources.ts';
import type { Resources } from './resources.ts';
import { isGuaranteed } from './traits.ts';

type Kind = 'container-disk' | 'guest-console-log';
type CpuAndMemory = { cpu: string; memory: string };

/** KubeVirt's sizes of helper containers, by what they do. */
const DEFAULTS = {
  consoleLog: { requests: { cpu: '5m', memory: '35M' }, limits: { cpu: '15m', memory: '60M' } },
  image: { requests: { cpu: '1m', memory: '1M' }, limits: { cpu: '10m', memory: '40M' } },
} satisfies Record<string, { requests: CpuAndMemory; limits: CpuAndMemory }>;

/** The container that prints the guest's serial console. */
export const consoleLogResources = (input: LaunchInput): Resources =>
  sized(DEFAULTS.consoleLog, 'guest-console-log', input);

/** A container that does nothing but hold the user's image. */
export const imageResources = (input: LaunchInput): Resources => {
  const { requests, limits } = sized(DEFAULTS.image, 'container-disk', input);
  return { requests: { ...requests, 'ephemeral-storage': EPHEMERAL_STORAGE_OVERHEAD }, limits };
};

/**
 * Defaults, overridden by the cluster's `supportContainerResources`; requests equal limits beside a guaranteed or pinned guest. KubeVirt's default
 * CPU limits are for what these containers do later: under them the runtime takes a second or two to start one. So they stand only where `compute`
 * is limited too.
 */
const sized = (
  defaults: { requests: CpuAndMemory; limits: CpuAndMemory },
  kind: Kind,
  input: LaunchInput,
): Resources => {
  const configured = input.config.supportContainers[kind];
  const { cpu, memory } = defaults.limits;
  const limited = computeResources(input).limits['cpu'] !== undefined;
  const limits = { ...(limited ? { cpu } : {}), memory, ...configured?.limits };
  const requests = { ...defaults.requests, ...configured?.requests };
  if (!isGuaranteed(input.vmi)) return { requests, limits };
  return { requests: { ...requests, cpu: limits.cpu ?? requests.cpu, memory: limits.memory }, limits };
};
