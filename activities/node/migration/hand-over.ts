import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { MigrationView } from '../../../api/launcher/migration.ts';
import type { PodRef } from '../../../api/contract/refs.ts';
import { failure } from '../../failures.ts';
import type { PeerLink } from '../migration-proxy/port.ts';
import type { ProcessTable } from '../pods/processes.ts';
import { qemuAfter } from '../pods/qemu.ts';

/** QEMU's process ends shortly after libvirt has said so. */
const QEMU_EXIT_MS = 5_000;

export interface HandOverTimes {
  /** How long the peer is tried. */
  patienceMs: number;
  retryMs: number;
}
const TIMES: HandOverTimes = { patienceMs: 15_000, retryMs: 200 };

/**
 * The guest stands still until this is done: the source's launcher said that its domain is gone, now this node proves that no QEMU is left, and the
 * target's node worker has it resumed. Neither Temporal nor the API server is asked.
 * @throws MigrationOutcomeUnknown, PeerUnreachable, LauncherUnreachable (the target's)
 */
export const handOver = async (
  { processes }: { processes: Pick<ProcessTable, 'qemuOf'> },
  source: PodRef,
  peer: Pick<PeerLink, 'resume'>,
  { patienceMs, retryMs }: HandOverTimes = TIMES,
): Promise<MigrationView> => {
  const qemu = await qemuAfter(processes, source.uid, QEMU_EXIT_MS);
  if (qemu !== undefined) {
    throw failure(
      'MigrationOutcomeUnknown',
      `the launcher of Pod ${source.name} says that its domain is gone, but QEMU (pid ${qemu.pid}) is there`,
    );
  }
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      const view = await peer.resume();
      if (view.resumed) return view;
      throw failure(
        'MigrationOutcomeUnknown',
        `the source is gone, and the target's launcher did not resume the guest: it has domain ${view.domain}`,
      );
    } catch (error) {
      if (!mayPass(error) || Date.now() + retryMs >= until) throw error;
    }
    await delay(retryMs);
  }
};

const mayPass = (error: unknown): boolean => error instanceof ApplicationFailure && error.nonRetryable !== true;
