import { quantityMilliValue, quantityValue } from '../kubernetes/quantity.ts';
import type { CPU, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, oneOf, required, unsupported, when } from './cause.ts';

const CPU_FIELD = 'spec.domain.cpu';
const DEDICATED = `${CPU_FIELD}.dedicatedCpuPlacement`;
const NUMA = `${CPU_FIELD}.numa.guestMappingPassthrough`;
const REQUEST = 'spec.domain.resources.requests.cpu';
const LIMIT = 'spec.domain.resources.limits.cpu';
const POLICIES = ['', 'force', 'require', 'optional', 'disable', 'forbid'];

const milli = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityMilliValue(quantity));
const whole = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityValue(quantity));

/** vCPUs of the topology; absent parts count as one, all absent as none. */
const vcpus = ({ cores, sockets, threads }: CPU): number => {
  const parts = [cores, sockets, threads].filter((part) => part !== undefined && part !== 0);
  return parts.length === 0 ? 0 : parts.reduce<number>((product, part) => product * (part ?? 1), 1);
};

/** CPU requests fit their limits; pinning, NUMA and real time come together. */
export const cpuRules: Rule = ({ spec }) => {
  const { cpu = {} } = spec.domain;
  const request = spec.domain.resources?.requests?.['cpu'];
  const limit = spec.domain.resources?.limits?.['cpu'];
  return [
    ...when(milli(request) < 0, () => invalid(REQUEST, `${request} is negative`)),
    ...when(milli(limit) < 0, () => invalid(LIMIT, `${limit} is negative`)),
    ...when(milli(limit) > 0 && milli(request) > milli(limit), () =>
      invalid(REQUEST, `${request} is more than the limit of ${limit}`),
    ),
    ...(cpu.dedicatedCpuPlacement === true ? pinning(spec, cpu) : []),
    ...numa(spec, cpu),
    ...when(cpu.isolateEmulatorThread === true && cpu.dedicatedCpuPlacement !== true, () =>
      invalid(`${CPU_FIELD}.isolateEmulatorThread`, 'the emulator gets its own CPU only with dedicatedCpuPlacement'),
    ),
    ...(cpu.features ?? []).flatMap(({ policy }, index) =>
      oneOf(`${CPU_FIELD}.features[${index}].policy`, policy, POLICIES, unsupported),
    ),
    ...when(Boolean(cpu.maxSockets) && (cpu.sockets ?? 0) > (cpu.maxSockets ?? 0), () =>
      invalid(`${CPU_FIELD}.sockets`, `${cpu.sockets} is more than maxSockets, ${cpu.maxSockets}`),
    ),
    ...realtime(cpu),
  ];
};

/** Pinned guests have whole CPUs, as many as the topology says, and memory that is all theirs. */
const pinning = ({ architecture, domain }: VirtualMachineInstanceSpec, cpu: CPU): Cause[] => {
  const { requests, limits } = domain.resources ?? {};
  const [request, limit] = [requests?.['cpu'], limits?.['cpu']];
  const [requested, limited, count] = [whole(request), whole(limit), vcpus(cpu)];
  const [memory, memoryLimit] = [whole(requests?.['memory']), whole(limits?.['memory'])];
  const noMemory =
    memory === 0 && memoryLimit === 0 && domain.memory?.hugepages === undefined && whole(domain.memory?.guest) === 0;
  const fraction = (field: string, quantity: string | undefined): Cause[] =>
    when(whole(quantity) > 0 && whole(quantity) * 1000 !== milli(quantity), () =>
      invalid(field, `${quantity} is no whole number of CPUs, as dedicatedCpuPlacement needs`),
    );
  return [
    ...when(noMemory, () =>
      invalid('spec.domain.resources.limits.memory', 'a pinned guest says its memory: set spec.domain.memory.guest'),
    ),
    ...fraction(REQUEST, request),
    ...fraction(LIMIT, limit),
    ...when(memory > 0 && memoryLimit > 0 && memory !== memoryLimit, () =>
      invalid('spec.domain.resources.requests.memory', 'of a pinned guest, memory request and limit are equal'),
    ),
    ...when(requested === 0 && limited === 0 && count === 0, () =>
      invalid(DEDICATED, 'say how many CPUs: set spec.domain.cpu.cores, or request cpu in spec.domain.resources'),
    ),
    ...when(requested > 0 && limited > 0 && requested !== limited, () =>
      invalid(DEDICATED, `of a pinned guest, CPU request (${request}) and limit (${limit}) are equal`),
    ),
    ...when((requested > 0 || limited > 0) && count > 0 && requested !== count && limited !== count, () =>
      invalid(DEDICATED, `the topology has ${count} vCPUs, spec.domain.resources another number: drop one of them`),
    ),
    ...when(architecture === 'arm64' && (cpu.threads ?? 0) > 1, () =>
      invalid('spec.architecture', 'arm64 has one thread a core: set spec.domain.cpu.threads to 1'),
    ),
    ...when((cpu.threads ?? 0) > 2, () =>
      invalid(DEDICATED, `spec.domain.cpu.threads is ${cpu.threads}: pinned cores have at most 2`),
    ),
  ];
};

const numa = ({ domain }: VirtualMachineInstanceSpec, cpu: CPU): Cause[] => {
  if (cpu.numa?.guestMappingPassthrough === undefined) return [];
  return [
    ...when(cpu.dedicatedCpuPlacement !== true, () =>
      invalid(NUMA, 'the host’s cells need dedicatedCpuPlacement: true'),
    ),
    ...when(domain.memory?.hugepages === undefined, () =>
      invalid(NUMA, 'the host’s cells need spec.domain.memory.hugepages'),
    ),
  ];
};

const realtime = (cpu: CPU): Cause[] => {
  if (cpu.realtime === undefined) return [];
  return [
    ...when(cpu.dedicatedCpuPlacement !== true, () =>
      required(DEDICATED, 'spec.domain.cpu.realtime needs it: set it to true'),
    ),
    ...when(cpu.numa?.guestMappingPassthrough === undefined, () =>
      required(NUMA, 'spec.domain.cpu.realtime needs it: set it to {}'),
    ),
  ];
};
