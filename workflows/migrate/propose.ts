import { condition, workflowInfo } from '@temporalio/workflow';
import type { MigrationAnswer } from '../../api/contract/migrations.ts';
import { migrationProposed } from '../../api/contract/migrations.ts';
import type { Round } from '../operation/operation.ts';
import { found } from '../shared/failures.ts';
import { tell } from '../shared/signals.ts';
import { msUntil, now } from '../shared/time.ts';
import type { Migration } from './migration.ts';

export type Accepted = Extract<MigrationAnswer, { accepted: true }>;

/** An entity that was just begun anew looks at the world before it answers. */
const ANSWERS_WITHIN_MS = 120_000;
const ASK_AGAIN_MS = 10_000;

/** Asks the instance's entity to be its operation. @throws NotMigratable, OperationUnderWay, DeadlineExceeded */
export const accepted = async (migration: Migration, { trouble }: Round): Promise<Accepted> => {
  const { input, on, answer } = migration;
  const proposal = { operationId: workflowInfo().workflowId, migration: on.migration };
  const since = now();
  for (;;) {
    const isThere = await tell(input.entity, migrationProposed, proposal);
    await condition(() => answer() !== undefined, ASK_AGAIN_MS, { summary: 'the instance answers' });
    const told = answer();
    if (told?.accepted === true) return told;
    if (told !== undefined) throw found(knownType(told.failure.type), told.failure.message);
    const { namespace, name } = on.vmi;
    const message = `the workflow of VMI ${namespace}/${name} ${isThere ? 'does not answer' : 'does not run'}.`;
    if (msUntil(now(), since) >= ANSWERS_WITHIN_MS) throw found('DeadlineExceeded', message);
    trouble({ type: 'Unknown', message });
  }
};

const knownType = (type: Extract<MigrationAnswer, { accepted: false }>['failure']['type']) =>
  type === 'Unknown' ? 'NotMigratable' : type;
