import { setTimeout as delay } from 'node:timers/promises';
import type { PodProcess, ProcessTable } from './processes.ts';

const POLL_MS = 20;

/** A QEMU process of the Pod that is still there after `waitMs`; undefined as soon as there is none. */
export const qemuAfter = async (
  processes: Pick<ProcessTable, 'qemuOf'>,
  podUid: string,
  waitMs: number,
): Promise<PodProcess | undefined> => {
  const until = Date.now() + waitMs;
  for (;;) {
    const [qemu] = processes.qemuOf(podUid);
    if (qemu === undefined || Date.now() >= until) return qemu;
    await delay(POLL_MS);
  }
};
