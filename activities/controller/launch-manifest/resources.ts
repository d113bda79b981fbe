import {
  bytesQuantity,
  compareQuantities,
  quantityValue,
  subtractQuantities,
  sumQuantities,
} from '../../../api/kubernetes/quantity.ts';
import { matchesSelector } from '../../../api/kubernetes/label-selector.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { extraDevices, hypervisorDevices } from './devices.ts';
import type { LaunchInput } from './input.ts';
import { memoryOverhead } from './memory-overhead.ts';
import { amount, hasDedicatedCpus, isZero, vcpusOf } from './traits.ts';

export interface Resources {
  requests: Record<string, string>;
  limits: Record<string, string>;
}

/** Room on the node's disk for logs and state besides what the user asks for. */
export const EPHEMERAL_STORAGE_OVERHEAD = '50M';

const EVEN_PARITY_ANNOTATION = 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity';
const LIMITS_RATIO_LABEL = 'alpha.kubevirt.io/auto-memory-limits-ratio';
const DEFAULT_LIMITS_RATIO = 2;

/**
 * Requests and limits of the `compute` container: the VMI's own, plus what KubeVirt adds. Memory is settled before the overhead is
 * added, so that overcommitment never shrinks the overhead.
 */
export const computeResources = (input: LaunchInput): Resources => {
  const { vmi, config } = input;
  const own = vmi.spec.domain.resources ?? {};
  const resources: Resources = { requests: texts(own.requests), limits: texts(own.limits) };
  addEphemeralStorage(resources);
  Object.assign(resources.limits, hypervisorDevices(vmi, config));
  settleMemoryRequest(resources, vmi, config.memoryOvercommit);
  if (hasDedicatedCpus(vmi)) pinCpus(resources, vmi);
  else shareCpus(resources, input);
  const overhead = bytesQuantity(memoryOverhead(vmi, config));
  if (vmi.spec.domain.memory?.hugepages === undefined) addOverhead(resources, vmi, overhead);
  else moveToHugepages(resources, vmi, overhead);
  addMemoryLimit(resources, input);
  addDevices(resources, extraDevices(vmi, config));
  return resources;
};

const texts = (quantities: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));

const addEphemeralStorage = ({ requests, limits }: Resources): void => {
  const name = 'ephemeral-storage';
  requests[name] = sumQuantities(amount(requests[name]), EPHEMERAL_STORAGE_OVERHEAD);
  if (limits[name] !== undefined) limits[name] = sumQuantities(limits[name], EPHEMERAL_STORAGE_OVERHEAD);
};

/** No request: the limit, else the guest's memory (or its page size), overcommitted as configured. */
const settleMemoryRequest = (
  { requests, limits }: Resources,
  vmi: VirtualMachineInstance,
  overcommit: number,
): void => {
  if (!isZero(requests['memory'])) return;
  if (!isZero(limits['memory'])) requests['memory'] = amount(limits['memory']);
  if (requests['memory'] !== undefined) return;
  const { guest, hugepages } = vmi.spec.domain.memory ?? {};
  const memory = amount(guest ?? hugepages?.pageSize);
  if (compareQuantities(memory, '0') <= 0) return;
  requests['memory'] =
    overcommit === 100 ? memory : bytesQuantity(Math.trunc((quantityValue(memory) * 100) / overcommit));
};

/** Whole CPUs, requests equal to limits, one or two more for the emulator when it is isolated. */
const pinCpus = ({ requests, limits }: Resources, vmi: VirtualMachineInstance): void => {
  const ioThreads = poolThreads(vmi);
  const vcpus = vcpusOf(vmi);
  if (vcpus > 0) {
    limits['cpu'] = requests['cpu'] = String(vcpus + ioThreads);
  } else {
    for (const list of [requests, limits]) {
      if (list['cpu'] !== undefined) list['cpu'] = sumQuantities(list['cpu'], String(ioThreads));
    }
  }
  if (vmi.spec.domain.cpu?.isolateEmulatorThread === true) {
    const extra = emulatorCpus(vmi, quantityValue(amount(limits['cpu'])));
    limits['cpu'] = sumQuantities(amount(limits['cpu']), extra);
    if (requests['cpu'] !== undefined) requests['cpu'] = sumQuantities(requests['cpu'], extra);
  }
  if (requests['memory'] !== undefined) limits['memory'] = requests['memory'];
};

const emulatorCpus = (vmi: VirtualMachineInstance, cpus: number): string => {
  const wantsEven = vmi.metadata?.annotations?.[EVEN_PARITY_ANNOTATION] !== undefined;
  const pool = vmi.spec.domain.ioThreadsPolicy === 'supplementalPool' ? poolThreads(vmi) : 0;
  return wantsEven && (cpus + pool) % 2 === 0 ? '2' : '1';
};

const poolThreads = ({ spec }: VirtualMachineInstance): number =>
  spec.domain.ioThreads?.supplementalPoolThreadCount ?? 0;

/** A share of a CPU per vCPU, unless the VMI requests its own; a limit where the namespace asks for one. */
const shareCpus = ({ requests, limits }: Resources, input: LaunchInput): void => {
  const { vmi, config } = input;
  const total = (vmi.spec.domain.cpu === undefined ? 1 : vcpusOf(vmi)) + poolThreads(vmi);
  if (total === 0) return;
  requests['cpu'] ??= milliCpus(Math.ceil((total * 1000) / config.cpuAllocationRatio));
  if (wantsCpuLimit(input)) limits['cpu'] ??= String(total);
};

const milliCpus = (milli: number): string => (milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`);

const wantsCpuLimit = ({ config, namespaceLabels = {}, quotaOnLimits }: LaunchInput): boolean => {
  const selector = config.autoCPULimitNamespaceLabelSelector;
  return quotaOnLimits?.cpu === true || (selector !== undefined && matchesSelector(selector, namespaceLabels));
};

const addOverhead = ({ requests, limits }: Resources, vmi: VirtualMachineInstance, overhead: string): void => {
  const spared = vmi.spec.domain.resources?.overcommitGuestOverhead === true;
  requests['memory'] = spared ? amount(requests['memory']) : sumQuantities(amount(requests['memory']), overhead);
  if (limits['memory'] !== undefined) limits['memory'] = sumQuantities(limits['memory'], overhead);
};

/** The guest's memory comes from huge pages; ordinary memory is left for what exceeds the guest, and for the overhead. */
const moveToHugepages = ({ requests, limits }: Resources, vmi: VirtualMachineInstance, overhead: string): void => {
  const { guest, hugepages } = vmi.spec.domain.memory ?? {};
  const requested = amount(requests['memory']);
  const beyondGuest = (memory: string): string =>
    guest !== undefined && compareQuantities(memory, amount(guest)) > 0
      ? subtractQuantities(memory, amount(guest))
      : '0';
  const name = `hugepages-${hugepages?.pageSize}`;
  const pages = isZero(beyondGuest(requested)) ? requested : amount(guest);
  requests[name] ??= pages;
  limits[name] ??= pages;
  requests['memory'] = sumQuantities(beyondGuest(requested), overhead);
  if (limits['memory'] !== undefined) limits['memory'] = sumQuantities(beyondGuest(limits['memory']), overhead);
};

/** Namespaces whose quota bounds memory limits get one: twice the request, or by the ratio on the namespace. */
const addMemoryLimit = (
  { requests, limits }: Resources,
  { vmi, namespaceLabels = {}, quotaOnLimits }: LaunchInput,
): void => {
  if (quotaOnLimits?.memory !== true || vmi.spec.domain.resources?.limits?.['memory'] !== undefined) return;
  const ratio = Number(namespaceLabels[LIMITS_RATIO_LABEL]);
  const factor = ratio >= 1 ? ratio : DEFAULT_LIMITS_RATIO;
  limits['memory'] ??= bytesQuantity(Math.trunc(quantityValue(amount(requests['memory'])) * factor));
};

const addDevices = (resources: Resources, devices: Record<string, number>): void => {
  for (const [name, count] of Object.entries(devices)) {
    for (const list of [resources.requests, resources.limits]) {
      list[name] ??= String(count);
    }
  }
};
