import type { ClusterConfig } from '../cluster-config/index.ts';
import { binaryQuantity, quantityValue } from '../kubernetes/quantity.ts';
import type { CPU, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** Upper bound that fits every machine type. */
const MAX_VCPUS = 512;
/** A guest below this cannot take more memory while it runs. */
const MIN_GUEST_BYTES = 2 ** 30;
/** Pluggable memory comes in blocks of a transparent huge page, or of the guest's own huge pages. */
const BLOCK_BYTES = 2 ** 21;
const HUGE_BLOCK_BYTES = 2 ** 30;

/** Room for CPUs and memory that are plugged into the running guest; not on arm64, and not when changes wait for a restart. */
export const completeHotplug = (spec: VirtualMachineInstanceSpec, config: ClusterConfig): void => {
  if (spec.architecture === 'arm64' || config.vmRolloutStrategy !== 'LiveUpdate') return;
  const maxSockets = maxSocketsOf((spec.domain.cpu ??= {}), config.liveUpdate);
  if (maxSockets > 0) spec.domain.cpu.maxSockets = maxSockets;
  const maxGuest = maxGuestOf(spec, config.liveUpdate);
  if (maxGuest !== undefined) spec.domain.memory = { ...spec.domain.memory, maxGuest };
};

const maxSocketsOf = (cpu: CPU, { maxCpuSockets = 0, maxHotplugRatio }: ClusterConfig['liveUpdate']): number => {
  if (cpu.maxSockets) return cpu.maxSockets;
  const { sockets = 0, cores = 0, threads = 0 } = cpu;
  if (maxCpuSockets > 0) return Math.max(maxCpuSockets, sockets);
  const wanted = sockets * maxHotplugRatio;
  if (wanted * cores * threads <= MAX_VCPUS) return wanted;
  return Math.max(Math.trunc(MAX_VCPUS / (cores * threads)), sockets);
};

const maxGuestOf = (spec: VirtualMachineInstanceSpec, limits: ClusterConfig['liveUpdate']): string | undefined => {
  const { memory } = spec.domain;
  if (memory?.maxGuest !== undefined) return memory.maxGuest;
  if (memory?.guest === undefined) return undefined;
  const wanted = limits.maxGuest ?? binaryQuantity(quantityValue(String(memory.guest)) * limits.maxHotplugRatio);
  return memoryHotplugObstacle(spec, wanted) === undefined ? wanted : undefined;
};

/** Why a guest cannot take memory up to this much while it runs; undefined: it can. */
export const memoryHotplugObstacle = (
  { architecture, domain }: VirtualMachineInstanceSpec,
  maxGuest: string,
): string | undefined => {
  const { cpu, launchSecurity, memory } = domain;
  if (cpu?.realtime !== undefined) return 'its CPUs are real-time';
  if (cpu?.numa?.guestMappingPassthrough !== undefined) return "it has the host's NUMA cells";
  if (launchSecurity !== undefined) return 'its memory is encrypted';
  if (memory?.guest === undefined) return 'it does not say how much memory the guest starts with';
  const guest = quantityValue(String(memory.guest));
  if (guest > quantityValue(maxGuest)) return `it starts with more than maxGuest, ${maxGuest}`;
  const block = memory.hugepages?.pageSize === '1Gi' ? HUGE_BLOCK_BYTES : BLOCK_BYTES;
  if (guest % block !== 0 || quantityValue(maxGuest) % block !== 0)
    return `guest and maxGuest are no multiples of ${binaryQuantity(block)}`;
  if (architecture !== 'amd64') return 'only amd64 guests take memory while they run';
  return guest < MIN_GUEST_BYTES ? `only guests of at least ${binaryQuantity(MIN_GUEST_BYTES)} do` : undefined;
};
