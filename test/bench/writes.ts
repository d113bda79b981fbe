import type { Write } from '../e2e/support/audit.ts';

/** What virtflow wrote for one VM's start. */
export interface StartWrites {
  /** To the VMI after its creation, up to the write that says Running. */
  vmi: number;
  /** In all, up to the write that says it on the VM as well. */
  all: number;
  conflicts: number;
}

/**
 * @param writes virtflow's, of this VM and its instance and Pods, oldest first
 * @param runningAt when a watch heard of Running, in ms: after it was written
 */
export function countStart(writes: readonly Write[], runningAt: number): StartWrites {
  const before = writes.filter(({ at }) => Date.parse(at) <= runningAt);
  const after = writes.slice(before.length);
  const untilVm = before.some(isVmStatus) && isVmStatus(before.at(-1)) ? 0 : after.findIndex(isVmStatus) + 1;
  return {
    vmi: before.filter(({ resource, verb }) => resource === 'virtualmachineinstances' && verb !== 'create').length,
    all: before.length + untilVm,
    conflicts: writes.filter(({ status }) => status === 409).length,
  };
}

const isVmStatus = (write: Write | undefined): boolean => write?.resource === 'virtualmachines/status';
