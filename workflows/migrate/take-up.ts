import { CancelledFailure } from '@temporalio/workflow';
import type { Admission } from './admit.ts';
import { goForward } from './finalize.ts';
import type { Left } from './left.ts';
import type { Migration } from './migration.ts';
import { sourceClosed, verdictOf } from './move.ts';
import { permitReturned } from './permit.ts';
import { settled } from './settle.ts';
import { targetAbandoned, targetRemoved } from './target-pod.ts';
import { tokenStays } from './token.ts';

/**
 * Brings to an end what an earlier run of this migration has left: finds out who has the guest, then goes forward or takes everything back. A job that is
 * under way is waited for, unless nobody wants it any more; one that has not begun is not begun any more.
 * @throws MigrationFailed, CancelledFailure, or why it was refused
 */
export const takeUp = async (migration: Migration, left: Left, admission: Admission): Promise<void> => {
  if (left.state === 'prepared') return takeBack(migration, left, admission);
  const { op, unwanted, tell } = migration;
  const { source, target, epoch, state } = left;
  const on = source === undefined ? { target } : { source, target };
  tell(on);
  migration.enter('Running');
  const stop = (): string | undefined =>
    unwanted() ?? (admission.admitted === undefined ? 'nobody wants it any more' : undefined);
  await op.step('ResolveMigration', {
    run: async (round) => {
      if (state === 'moved' || source === undefined)
        return round.note('the token says that the target holds the guest');
      const verdict = await settled(migration, { parties: { source, target }, stop }, round);
      verdictOf(migration, verdict, 'its workflow was interrupted');
    },
    undo: async (round) => {
      const { node } = source ?? {};
      if (source !== undefined && node !== undefined) await sourceClosed(migration, { ...source, node }, round);
      if (source !== undefined) await tokenStays(migration, source, round);
      await targetAbandoned(migration, target, round);
      await targetRemoved(migration, target, round);
    },
    always: permitReturned,
  });
  // A token that has moved has its new epoch already.
  await op.pointOfNoReturn(() => goForward(migration, on, state === 'moved' ? epoch - 1 : epoch));
};

/** A target Pod that nothing was sent to. */
const takeBack = async (
  migration: Migration,
  { target }: Extract<Left, { state: 'prepared' }>,
  { refusal }: Admission,
): Promise<void> => {
  const { node } = target;
  migration.tell({ target });
  await migration.op.step('TakeUpTarget', {
    run: ({ note }) => Promise.resolve(note('an earlier run has left a target Pod')),
    undo: async (round) => {
      migration.stays();
      if (node !== undefined) await targetAbandoned(migration, { ...target, node }, round);
      await targetRemoved(migration, target, round);
    },
    always: permitReturned,
  });
  throw refusal ?? new CancelledFailure('nobody wants it any more');
};
