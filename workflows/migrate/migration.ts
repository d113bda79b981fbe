import { CancellationScope, isCancellation, setHandler } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { MigrateInput, MigrationAnswer, MigrationPhase, OnMigration } from '../../api/contract/migrations.ts';
import { migrationAnswered, migrationObserved, migrationStatus, permitGranted } from '../../api/contract/migrations.ts';
import type { Operation } from '../operation/operation.ts';
import { isDefect, toFailureInfo } from '../shared/failures.ts';
import type { Report } from './report.ts';
import { isFinal } from './report.ts';

/** What the steps of a migration share. */
export interface Migration {
  op: Operation;
  input: MigrateInput;
  on: OnMigration;
  report: Report;
  /** Enters a phase, for everybody; what is passed in no time is told with the next one. */
  enter: (phase: MigrationPhase) => void;
  /** Takes down more of what is known; it is told with the next phase. */
  say: Report['say'];
  /** The same, told as soon as anything is. */
  tell: Report['say'];
  /** Why it shall not be carried out any further; undefined: it shall. */
  unwanted: () => string | undefined;
  /** Runs what may be cancelled: nothing of it can have moved the guest. */
  whileWanted: (story: () => Promise<void>) => Promise<void>;
  /** Runs all of it, and tells its failure at once: what has to be taken back is not waited for. */
  telling: (story: () => Promise<void>) => Promise<void>;
  /** Tells that the guest stays where it was for good: its VMI's end need not wait until the target is cleared away. */
  stays: () => void;
  answer: () => MigrationAnswer | undefined;
  hasPermit: () => boolean;
}

/** Registers the handlers; to be called before the first await. */
export const newMigration = (op: Operation, input: MigrateInput, report: Report): Migration => {
  const { vmi, migration } = input;
  const root = CancellationScope.current();
  const wanted = new CancellationScope({ cancellable: true });
  let unwanted: string | undefined;
  let answer: MigrationAnswer | undefined;
  let granted = false;

  const tell: Report['say'] = (change) => {
    report.say(change);
    op.found({ migration: report.now() });
  };
  const giveUp = (why: string): void => {
    if (unwanted !== undefined) return;
    unwanted = why;
    if (!isFinal(report.now())) tell({ abort: 'requested' });
    // Before, the end comes at once.
    if (report.now().phase === 'Running') report.publish();
    wanted.cancel();
    op.seen.call();
  };
  void root.cancelRequested.catch(() => giveUp('its VMI shall end, or it was cancelled in Temporal'));

  setHandler(migrationStatus, report.now);
  setHandler(migrationObserved, ({ deleting, gone, migration: { uid } }) => {
    if (uid !== migration.uid || isFinal(report.now()) || (!deleting && gone !== true)) return;
    giveUp('its VirtualMachineInstanceMigration was deleted');
  });
  setHandler(migrationAnswered, (told) => {
    answer = told;
    op.seen.call();
  });
  setHandler(permitGranted, () => {
    granted = true;
    op.seen.call();
  });

  const enter = (phase: MigrationPhase): void => {
    const isToldOf = report.enter(phase);
    if (!isToldOf) return;
    op.found({ migration: report.now() });
    // Before it is accepted nobody waits for its news.
    op.enter(phase, phase === 'Pending' ? 'quietly' : undefined);
  };
  const fail = (failure: FailureInfo): void => {
    report.fail(failure);
    op.found({ migration: report.now() });
    op.enter('Failed');
  };
  op.found({ migration: report.now() });

  return {
    ...{ op, input, report, enter, tell, say: report.say, on: { vmi, migration } },
    stays: () => {
      if (report.now().stays === true) return;
      tell({ stays: true });
      op.enter(report.now().phase);
    },
    unwanted: () => unwanted,
    answer: () => answer,
    hasPermit: () => granted,
    whileWanted: (story) => wanted.run(story),
    telling: async (story) => {
      try {
        await story();
      } catch (error) {
        if (!isDefect(error)) fail(isCancellation(error) ? cancelled(unwanted) : toFailureInfo(error));
        throw error;
      }
    },
  };
};

const cancelled = (why: string | undefined): FailureInfo => ({
  type: 'Cancelled',
  message: `cancelled: ${why ?? 'nobody said why'}. The guest runs on where it was.`,
});
