import { binaryQuantity, quantityValue } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import { topologyOf } from './topology.ts';
import type { InstancetypeSpec, PreferenceSpec } from './types.ts';

/** What instance type and preference are applied to: changed in place. */
export interface Target {
  metadata: { annotations?: Record<string, string> };
  spec: VirtualMachineInstanceSpec;
}

/** An empty text, 0 and false say nothing, as in KubeVirt's types. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== '' && value !== 0 && value !== false;

/**
 * Fields of a VMI that an instance type decides and the VMI has decided already, as paths below `spec` (annotations: as they are). Names are those
 * of KubeVirt's answers, also where that is no path of the object.
 */
export const conflicts = (
  { spec: { domain, nodeSelector, schedulerName }, metadata: { annotations = {} } }: Target,
  instancetype: InstancetypeSpec,
): { spec: string[]; annotations: string[] } => {
  const { cpu = {}, memory = {}, devices } = domain;
  const { requests = {}, limits = {} } = domain.resources ?? {};
  const { cpu: ofCpu, memory: ofMemory } = instancetype;
  const both = (path: string, own: unknown, given: unknown): string[] => (isGiven(own) && isGiven(given) ? [path] : []);
  const own = (path: string, value: unknown): string[] => both(path, value, true);
  const length = (list: unknown[] | undefined): number => (list ?? []).length;
  return {
    spec: [
      ...both('nodeSelector', nodeSelector, instancetype.nodeSelector),
      ...both('schedulerName', schedulerName, instancetype.schedulerName),
      ...own('domain.resources.requests.cpu', requests['cpu']),
      ...own('domain.resources.limits.cpu', limits['cpu']),
      ...own('domain.cpu.sockets', cpu.sockets),
      ...own('domain.cpu.cores', cpu.cores),
      ...own('domain.cpu.threads', cpu.threads),
      ...both('domain.cpu.model', cpu.model, ofCpu.model),
      ...both('domain.cpu.dedicatedCPUPlacement', cpu.dedicatedCpuPlacement, ofCpu.dedicatedCPUPlacement !== undefined),
      ...both('domain.cpu.isolateEmulatorThread', cpu.isolateEmulatorThread, ofCpu.isolateEmulatorThread !== undefined),
      ...both('domain.cpu.numa', cpu.numa, ofCpu.numa),
      ...both('domain.cpu.realtime', cpu.realtime, ofCpu.realtime),
      ...own('domain.memory.guest', memory.guest),
      ...both('domain.memory.hugepages', memory.hugepages, ofMemory.hugepages),
      ...both('domain.memory.maxGuest', memory.maxGuest, ofMemory.maxGuest),
      ...own('domain.resources.requests.memory', requests['memory']),
      ...own('domain.resources.limits.memory', limits['memory']),
      ...both(
        'domain.ioThreads.supplementalPoolThreadCount',
        domain.ioThreads?.supplementalPoolThreadCount !== undefined,
        instancetype.ioThreads?.supplementalPoolThreadCount !== undefined,
      ),
      ...both('domain.ioThreadsPolicy', domain.ioThreadsPolicy, instancetype.ioThreadsPolicy),
      ...both('domain.launchSecurity', domain.launchSecurity, instancetype.launchSecurity),
      ...both('domain.devices.gpus', length(devices.gpus), length(instancetype.gpus)),
      ...both('domain.devices.hostDevices', length(devices.hostDevices), length(instancetype.hostDevices)),
    ],
    annotations: Object.entries(instancetype.annotations ?? {})
      .filter(([key, value]) => (annotations[key] ?? value) !== value)
      .map(([key]) => `annotations.${key}`),
  };
};

/** Writes what the instance type decides into a target with which it has no conflicts. */
export const applyInstancetype = (
  { spec, metadata }: Target,
  instancetype: InstancetypeSpec,
  preference: PreferenceSpec | undefined,
): void => {
  const { nodeSelector, schedulerName, ioThreads, ioThreadsPolicy, launchSecurity, gpus, hostDevices } =
    structuredClone(instancetype);
  if (nodeSelector !== undefined) spec.nodeSelector = nodeSelector;
  if (schedulerName) spec.schedulerName = schedulerName;
  applyCpu(spec, instancetype, preference);
  applyMemory(spec, instancetype);
  const { domain } = spec;
  if (ioThreads?.supplementalPoolThreadCount !== undefined) domain.ioThreads = { ...domain.ioThreads, ...ioThreads };
  if (ioThreadsPolicy !== undefined) domain.ioThreadsPolicy = ioThreadsPolicy;
  if (launchSecurity !== undefined) domain.launchSecurity = launchSecurity;
  if (gpus !== undefined && gpus.length > 0) domain.devices.gpus = gpus;
  if (hostDevices !== undefined && hostDevices.length > 0) domain.devices.hostDevices = hostDevices;
  if (instancetype.annotations !== undefined)
    metadata.annotations = { ...instancetype.annotations, ...metadata.annotations };
};

const applyCpu = (
  { domain }: VirtualMachineInstanceSpec,
  instancetype: InstancetypeSpec,
  preference: PreferenceSpec | undefined,
): void => {
  const { guest, model, dedicatedCPUPlacement, isolateEmulatorThread, numa, realtime, maxSockets } = structuredClone(
    instancetype.cpu,
  );
  const cpu = (domain.cpu ??= {});
  if (model !== undefined) cpu.model = model;
  if (dedicatedCPUPlacement !== undefined) cpu.dedicatedCpuPlacement = dedicatedCPUPlacement;
  if (isolateEmulatorThread !== undefined) cpu.isolateEmulatorThread = isolateEmulatorThread;
  if (numa !== undefined) cpu.numa = numa;
  if (realtime !== undefined) cpu.realtime = realtime;
  if (maxSockets !== undefined) cpu.maxSockets ||= maxSockets;
  Object.assign(cpu, topologyOf(guest, preference));
};

const applyMemory = ({ domain }: VirtualMachineInstanceSpec, instancetype: InstancetypeSpec): void => {
  const { guest, maxGuest, hugepages, overcommitPercent = 0 } = structuredClone(instancetype.memory);
  const memory = (domain.memory ??= {});
  memory.guest = guest;
  if (hugepages !== undefined) memory.hugepages = hugepages;
  if (maxGuest !== undefined) memory.maxGuest = maxGuest;
  if (overcommitPercent === 0) return;
  const requested = Math.floor((quantityValue(guest) * (100 - overcommitPercent)) / 100);
  domain.resources = {
    ...domain.resources,
    requests: { ...domain.resources?.requests, memory: binaryQuantity(requested) },
  };
};
