import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { CpuPool } from './cpu-pool.ts';
import { ConversionError } from './errors.ts';
import { ioThreadPlan } from './io-threads.ts';
import { cpuTopology, vcpusOf } from './topology.ts';

/** Annotation that rounds a VMI with a CPU for the emulator up to an even number of CPUs. */
const EVEN_PARITY_ANNOTATION = 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity';

/** Host CPUs by what runs on them. */
export interface CpuPins {
  /** By vCPU. */
  vcpus: number[];
  emulator: number[];
  /** By IO thread, from 1. */
  ioThreads: number[][];
}

export const hasDedicatedCpus = (vmi: VirtualMachineInstance): boolean =>
  vmi.spec.domain.cpu?.dedicatedCpuPlacement === true;

/** The guest's NUMA cells shall be the host's: no core may then straddle two of them. */
export const passesNumaThrough = (vmi: VirtualMachineInstance): boolean =>
  hasDedicatedCpus(vmi) && vmi.spec.domain.cpu?.numa?.guestMappingPassthrough !== undefined;

/** Undefined without dedicated CPUs. @throws ConversionError if the Pod's CPUs do not suffice */
export function cpuPins(vmi: VirtualMachineInstance, host: HostFacts): CpuPins | undefined {
  if (!hasDedicatedCpus(vmi)) return undefined;
  const topology = cpuTopology(vmi);
  const pool = new CpuPool(host.numaCells ?? [], host.cpuSet, topology.threads, passesNumaThrough(vmi));
  const vcpus = pool.takeCores(topology);
  if (vcpus === undefined) throw tooFewCpus(`${vcpusOf(topology)} vCPUs`, host);

  const thread = (purpose: string): number => {
    const taken = pool.takeThread();
    if (taken === undefined) throw tooFewCpus(purpose, host);
    return taken;
  };
  const plan = ioThreadPlan(vmi);
  const poolThreads = plan?.pool
    ? Array.from({ length: plan.total }, (_, index) => [thread(`IO thread ${index + 1}`)])
    : [];
  const emulator = emulatorThreads(vmi, vcpus.length + poolThreads.length).map(thread);
  const ioThreads =
    plan === undefined || plan.pool ? poolThreads : shareCpus(plan.total, vcpus.length, host.cpuSet, emulator);
  return { vcpus, emulator, ioThreads };
}

const tooFewCpus = (purpose: string, host: HostFacts): ConversionError =>
  new ConversionError(
    'spec.domain.cpu',
    `the launcher Pod's CPUs (${host.cpuSet.join(', ') || 'none'}) do not suffice for ${purpose} on dedicated CPUs`,
  );

function emulatorThreads(vmi: VirtualMachineInstance, otherCpus: number): string[] {
  if (vmi.spec.domain.cpu?.isolateEmulatorThread !== true) return [];
  const evens = vmi.metadata?.annotations?.[EVEN_PARITY_ANNOTATION] !== undefined;
  return evens && otherCpus % 2 === 0 ? ['the emulator thread', 'an even number of CPUs'] : ['the emulator thread'];
}

/** IO threads without CPUs of their own: on the emulator's, else in turn on the guest's, else each on an equal share of them. */
function shareCpus(ioThreads: number, vcpus: number, cpuSet: number[], emulator: number[]): number[][] {
  if (emulator.length > 0) return [emulator];
  if (ioThreads >= vcpus)
    return Array.from({ length: ioThreads }, (_, index) =>
      cpuSet.slice((index + 1) % vcpus, ((index + 1) % vcpus) + 1),
    );
  const [share, larger] = [Math.floor(vcpus / ioThreads), vcpus % ioThreads];
  const startOf = (index: number): number => index * share + Math.min(index, larger);
  return Array.from({ length: ioThreads }, (_, index) => cpuSet.slice(startOf(index), startOf(index + 1)));
}
