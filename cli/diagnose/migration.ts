import type { FailureInfo } from '../../api/contract/failures.ts';
import { phaseOf, toldBy, type Migration } from '../migration/objects.ts';
import { summarize } from '../migration/summary.ts';
import { numbersInWords } from '../migration/words.ts';
import { remedyFor } from '../remedies.ts';
import { currentStep, failedStep } from '../temporal/operations.ts';
import { briefly, clause, duration } from '../words.ts';
import { MIGRATION_STAGES, notReached, ok } from './facts.ts';
import type { Facts, OperationFacts, Stage, Standing } from './facts.ts';
import { troubleOf } from './obstacle.ts';
import { noNode, stuck, targetPod } from './pod.ts';

export interface MigrationWalk {
  name: string;
  state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  stages: Stage[];
}

type MigrationStage = (typeof MIGRATION_STAGES)[number];

/** Steps of the workflow that belong to the later stages; all others prepare. */
const STAGE_OF_STEP: Record<string, MigrationStage> = {
  MigrateVMI: 'Migrate',
  ResolveMigration: 'Migrate',
  FinalizeMigration: 'Finalize',
  MoveToken: 'Finalize',
  RetireSource: 'Finalize',
};

interface Known {
  facts: Facts;
  object: Migration;
  state: MigrationWalk['state'];
  operation?: OperationFacts;
}

/** The newest migration of the instance, stage by stage; undefined: it was never migrated, or that could not be asked. */
export function walkMigration(facts: Facts): MigrationWalk | undefined {
  const object = facts.migration.answered ? facts.migration.value : undefined;
  if (!object) return undefined;
  const operation = facts.temporal.answered ? facts.temporal.value.migration : undefined;
  const { outcome, failure } = summaryOf(facts, object, operation);
  const state = outcome === 'unknown' ? 'running' : outcome;
  const known = { facts, object, state, ...(operation && { operation }) };
  const at = MIGRATION_STAGES.indexOf(stageOf(known));
  const stages = MIGRATION_STAGES.map((stage, n): Stage => {
    if (state === 'succeeded') return { stage, ...whenMoved(stage, known) };
    if (n !== at) return { stage, ...(n < at ? ok('done') : notReached) };
    if (state === 'cancelled') return { stage, state: 'failed', why: 'it was cancelled' };
    if (state === 'running') return { stage, ...underWay(known) };
    return { stage, ...failedBy(failure, known) };
  });
  return { name: object.metadata?.name ?? '', state, stages };
}

const summaryOf = (facts: Facts, last: Migration, operation: OperationFacts | undefined) =>
  summarize({ last, gone: false, ...(facts.vmi && { vmi: facts.vmi }), told: operation?.status }, facts.now);

/** Where it is or where it ended: by its steps, else by its phases. */
function stageOf({ object, operation, state }: Known): MigrationStage {
  const steps = operation?.status?.steps ?? [];
  const step = state === 'failed' || state === 'cancelled' ? failedStep(steps) : currentStep(steps);
  if (step) return STAGE_OF_STEP[step.name] ?? 'Prepare';
  const phases = (object.status?.phaseTransitionTimestamps ?? []).map(({ phase }) => phase);
  return phases.includes('Running') || phaseOf(object) === 'Running' ? 'Migrate' : 'Prepare';
}

const trouble = ({ facts, operation }: Known): Standing | undefined =>
  operation?.status && troubleOf(operation.status, operation.state !== 'running', facts);

/** It is over and well; what is left to do may still wait. */
function whenMoved(stage: MigrationStage, known: Known): Standing {
  const numbers = known.operation?.status?.migration?.numbers;
  if (stage === 'Migrate' && numbers) return ok(numbersInWords(numbers));
  return (stage === 'Finalize' ? trouble(known) : undefined) ?? ok('done');
}

/** Why it failed; and what hinders taking back what it had made. */
function failedBy(failure: FailureInfo | undefined, known: Known): Standing {
  const { facts, operation } = known;
  const step = failedStep(operation?.status?.steps ?? []);
  const type = failure?.type ?? 'MigrationFailed';
  const by = [...(step ? [step.name] : []), ...(type === 'Unknown' ? [] : [type])].join(': ');
  const why = clause(failure?.message ?? 'its object does not say why');
  const left = operation?.state === 'running' ? trouble(known) : undefined;
  return {
    state: 'failed',
    ...(by !== '' && { by }),
    why: left === undefined ? why : `${why}; not all of it is taken back yet: ${left.by}: ${left.why}`,
    remedy: left?.remedy ?? remedyFor(type, facts.name, failure?.message),
  };
}

function underWay(known: Known): Standing {
  const { facts, object, operation } = known;
  const waits = (why: string, remedy: string): Standing => ({ state: 'waiting', why, remedy });
  const nobodyKnows =
    operation?.status?.migration?.outcomeUnknown ?? toldBy(object, 'MigrationOutcomeUnknown')?.message;
  if (nobodyKnows !== undefined)
    return waits(
      `nobody can say who holds the guest: ${clause(nobodyKnows)}`,
      remedyFor('MigrationOutcomeUnknown', facts.name),
    );
  const told = trouble(known);
  if (told) return told;
  const pod = targetPod(facts, object.metadata?.uid ?? '');
  const stuckPod = pod && (noNode(pod) ?? stuck(pod));
  if (stuckPod !== undefined)
    return waits(
      `target Pod: ${stuckPod}`,
      remedyFor('PodNotReady', facts.name, `Pod ${pod?.metadata?.name}: ${stuckPod}`),
    );
  const waiting = toldBy(object, 'Waiting');
  if (waiting)
    return {
      by: waiting.type,
      ...waits(clause(briefly(waiting.message)), remedyFor(waiting.type, facts.name, waiting.message)),
    };
  const step = currentStep(operation?.status?.steps ?? []);
  const doing = step ? `${step.name} for ${duration(step.startedAt, facts.now)}` : `phase ${phaseOf(object)}`;
  const note = step?.note === undefined ? '' : ` (${clause(step.note)})`;
  return waits(`it is under way: ${doing}${note}`, 'wait');
}
