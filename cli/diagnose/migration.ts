import { phaseOf } from '../migration/objects.ts';
import { summarize } from '../migration/summary.ts';
import { numbersInWords } from '../migration/words.ts';
import { remedyFor } from '../remedies.ts';
import type { Told } from '../temporal/operations.ts';
import { clause, duration } from '../words.ts';
import { MIGRATION_STAGES, notReached, ok, type Facts, type Stage, type Standing } from './facts.ts';
import { lastWorked, troubleOf } from './obstacle.ts';
import { noNode, stuck, targetPod } from './pod.ts';

export interface MigrationWalk {
  name: string;
  state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  stages: Stage[];
}

type MigrationStage = (typeof MIGRATION_STAGES)[number];

/** Steps of the workflow that belong to the later stages; all others prepare. */
const STAGE_OF_STEP: Record<string, MigrationStage> = {
  RecordMove: 'Migrate',
  MigrateVMI: 'Migrate',
  ResolveMigration: 'Migrate',
  FinalizeMigration: 'Finalize',
  MoveToken: 'Finalize',
  RetireSource: 'Finalize',
};

/** The newest migration of the instance, stage by stage; undefined: it was never migrated, or that could not be asked. */
export function walkMigration(facts: Facts): MigrationWalk | undefined {
  const migration = facts.migration.answered ? facts.migration.value : undefined;
  if (!migration) return undefined;
  const operation = facts.temporal.answered ? facts.temporal.value.migration : undefined;
  const { vmi, now } = facts;
  const { outcome } = summarize({ last: migration, gone: false, ...(vmi && { vmi }), told: operation?.status }, now);
  const state = outcome === 'unknown' ? 'running' : outcome;
  const at = MIGRATION_STAGES.indexOf(stageOf(facts, operation?.status, state === 'failed' || state === 'cancelled'));
  const stages = MIGRATION_STAGES.map((stage, n): Stage => {
    if (state === 'succeeded') return { stage, ...whenMoved(stage, facts) };
    if (n !== at) return { stage, ...(n < at ? ok('done') : notReached) };
    return { stage, ...standing(facts, state) };
  });
  return { name: migration.metadata?.name ?? '', state, stages };
}

/** Where it is or where it ended: by its steps, else by its phases. */
function stageOf(facts: Facts, told: Told | undefined, over: boolean): MigrationStage {
  const step = told && lastWorked(told.steps, over);
  if (step) return STAGE_OF_STEP[step.name] ?? 'Prepare';
  const migration = facts.migration.answered ? facts.migration.value : undefined;
  const phases = (migration?.status?.phaseTransitionTimestamps ?? []).map(({ phase }) => phase);
  return phases.includes('Running') || migration?.status?.phase === 'Running' ? 'Migrate' : 'Prepare';
}

/** It is over and well; what is left to do may still wait. */
function whenMoved(stage: MigrationStage, facts: Facts): Standing {
  const operation = facts.temporal.answered ? facts.temporal.value.migration : undefined;
  if (stage === 'Migrate' && operation?.status?.migration?.numbers)
    return ok(numbersInWords(operation.status.migration.numbers));
  if (stage !== 'Finalize' || !operation?.status) return ok('done');
  return troubleOf(operation.status, operation.state !== 'running', facts) ?? ok('done');
}

function standing(facts: Facts, state: MigrationWalk['state']): Standing {
  const operation = facts.temporal.answered ? facts.temporal.value.migration : undefined;
  if (state === 'cancelled') return { state: 'failed', why: 'it was cancelled' };
  const outcomeUnknown = operation?.status?.migration?.outcomeUnknown;
  if (outcomeUnknown !== undefined)
    return {
      state: 'waiting',
      why: `nobody can say who holds the guest: ${clause(outcomeUnknown)}`,
      remedy: remedyFor('MigrationOutcomeUnknown', facts.name),
    };
  const trouble = operation?.status && troubleOf(operation.status, operation.state !== 'running', facts);
  return trouble ?? (state === 'failed' ? failedByObject(facts) : underWay(facts));
}

function failedByObject(facts: Facts): Standing {
  const last = facts.migration.answered ? facts.migration.value : undefined;
  const failure = last && summarize({ last, gone: false, ...(facts.vmi && { vmi: facts.vmi }) }, facts.now).failure;
  return {
    state: 'failed',
    why: clause(failure?.message ?? 'its object does not say why'),
    remedy: remedyFor('MigrationFailed', facts.name),
  };
}

function underWay(facts: Facts): Standing {
  const migration = facts.migration.answered ? facts.migration.value : undefined;
  const operation = facts.temporal.answered ? facts.temporal.value.migration : undefined;
  const pod = targetPod(facts, migration?.metadata?.uid ?? '');
  const why = pod && (noNode(pod) ?? stuck(pod));
  if (why !== undefined)
    return { state: 'waiting', why: `target Pod: ${why}`, remedy: remedyFor('PodNotReady', facts.name) };
  const phase = migration ? phaseOf(migration) : '';
  const step = operation?.status?.steps.at(-1);
  const doing = step ? `${step.name} for ${duration(step.startedAt, facts.now)}` : `phase ${phase}`;
  const note = step?.note === undefined ? '' : ` (${clause(step.note)})`;
  return { state: 'waiting', why: `it is under way: ${doing}${note}`, remedy: 'wait' };
}
