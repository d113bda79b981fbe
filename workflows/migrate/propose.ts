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

/** Asks the instance's entity to be its operation. Resolves to false if there is none. */
export const proposed = ({ input, on }: Migration): Promise<boolean> =>
  tell(input.entity, migrationProposed, { operationId: workflowInfo().workflowId, migration: on.migration });

/**
 * Waits for the answer of the instance's entity.
 * @param asked for the first time, while other things were done
 * @throws NotMigratable, OperationUnderWay, DeadlineExceeded
 */
export const accepted = async (
  migration: Migration,
  asked: Promise<boolean>,
  { trouble }: Round,
): Promise<Accepted> => {
  const { on, answer } = migration;
  const since = now();
  for (let asking = asked; ; asking = proposed(migration)) {
    const isThere = await asking;
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
