import { condition, workflowInfo } from '@temporalio/workflow';
import { MIGRATION_SCHEDULER_ID, permitRequested } from '../../api/contract/migrations.ts';
import type { Round } from '../operation/operation.ts';
import { WAIT_LIMIT_MS } from '../operation/patience.ts';
import { found } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import { tell } from '../shared/signals.ts';
import { msUntil, now } from '../shared/time.ts';
import type { Migration } from './migration.ts';

/** Granted by then, nobody needs to hear that it waited. */
const AT_ONCE_MS = 2_000;
/** A scheduler that was begun anew does not know who waits. */
const ASK_AGAIN_MS = 30_000;

/** Waits for the scheduler's permit. @throws DeadlineExceeded after a day */
export const permitAcquired = async (
  { on, report, op, hasPermit }: Migration,
  { sourceNode, priority }: { sourceNode: string; priority: number },
  round: Round,
): Promise<void> => {
  const request = { holder: workflowInfo().workflowId, migration: on.migration, sourceNode, priority };
  const since = now();
  for (let asked = 1; ; asked += 1) {
    // Asked directly if it runs; only an activity can start it.
    if (!(await tell(MIGRATION_SCHEDULER_ID, permitRequested, request))) {
      await controllerActivities(round.summary).requestPermit(request);
    }
    const ms = asked === 1 ? AT_ONCE_MS : ASK_AGAIN_MS;
    if (await condition(hasPermit, ms, { summary: 'permit is granted' })) return;
    if (msUntil(now(), since) >= WAIT_LIMIT_MS) throw found('DeadlineExceeded', 'no permit was granted within a day.');
    round.note('waits until other migrations have ended; the query schedulerStatus of the scheduler tells which');
    report.publish();
    op.found({ migration: report.now() });
  }
};

/** Only to be called once nothing of the migration is left. */
export const permitReturned = async ({ summary }: Round): Promise<void> =>
  controllerActivities(summary).returnPermit({ holder: workflowInfo().workflowId });
