import { quantityValue } from '../../api/kubernetes/quantity.ts';
import type { Disk as DiskSpec, VirtualMachineInstance } from '../../api/kubevirt/types.ts';

/** How the IO threads of a domain are numbered: 1 … shared, then one for each disk that wants its own; or one pool for all disks. */
export interface IoThreadPlan {
  total: number;
  /** Threads that disks share in turn. */
  shared: number;
  /** All threads serve every disk. */
  pool: boolean;
}

export const hasOwnThread = (disk: DiskSpec): boolean => disk.dedicatedIOThread === true;

/** Threads the policy allows; disks that want their own thread get it even beyond. */
function limit(vmi: VirtualMachineInstance): number {
  const { ioThreadsPolicy = 'shared', cpu, resources } = vmi.spec.domain;
  if (ioThreadsPolicy === 'shared') return 1;
  if (ioThreadsPolicy !== 'auto') return 0;
  // The emulator's CPU has room for one more thread.
  if (cpu?.dedicatedCpuPlacement === true && cpu.isolateEmulatorThread === true) return 1;
  const cpus = resources?.requests?.['cpu'] ?? resources?.limits?.['cpu'] ?? '1';
  return quantityValue(cpus) * 2;
}

/** Undefined: the domain has no IO threads. */
export function ioThreadPlan(vmi: VirtualMachineInstance): IoThreadPlan | undefined {
  const { ioThreadsPolicy, ioThreads, devices } = vmi.spec.domain;
  const disks = devices.disks ?? [];
  if (ioThreadsPolicy === undefined && !disks.some(hasOwnThread)) return undefined;
  const poolSize = ioThreads?.supplementalPoolThreadCount;
  if (ioThreadsPolicy === 'supplementalPool' && poolSize !== undefined)
    return { total: poolSize, shared: 0, pool: true };
  const dedicated = disks.filter(hasOwnThread).length;
  const wanted = disks.length - dedicated;
  const shared = wanted + dedicated > limit(vmi) ? Math.max(limit(vmi) - dedicated, 1) : wanted;
  return { total: shared + dedicated, shared, pool: false };
}
