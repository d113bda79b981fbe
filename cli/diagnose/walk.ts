import { STAGES, type Facts, type Stage } from './facts.ts';
import { walkEvacuation } from './evacuation.ts';
import { walkMigration, type MigrationWalk } from './migration.ts';
import { obstacleOf } from './obstacle.ts';
import { OWN_STANDING } from './stages.ts';
import { firstSentence } from '../words.ts';

/** Where a VM stands, why, and what to do. */
export interface Diagnosis {
  namespace: string;
  name: string;
  /** All of it in one sentence. */
  sentence: string;
  /** Absent: nothing stands in the way. */
  standsAt?: Stage;
  stages: Stage[];
  /** Absent: it may stay on its node. */
  evacuation?: Stage;
  migration?: MigrationWalk;
  /** What could not be asked, and why. */
  unasked: string[];
}

/** From facts to stages; pure. */
export function walk(facts: Facts): Diagnosis {
  const obstacle = obstacleOf(facts);
  const stages = STAGES.map((stage): Stage => ({
    stage,
    ...(obstacle?.stage === stage ? obstacle.standing : OWN_STANDING[stage](facts)),
  }));
  const migration = walkMigration(facts);
  const evacuation = walkEvacuation(facts);
  const standsAt =
    whereItStands(stages, obstacle?.stage) ??
    (evacuation && isBad(evacuation) ? evacuation : migration && whereMigrationStands(migration));
  return {
    ...facts.name,
    sentence: sentenceOf(facts, stages, standsAt, migration),
    ...(standsAt && { standsAt }),
    stages,
    ...(evacuation && { evacuation }),
    ...(migration && { migration }),
    unasked: unasked(facts),
  };
}

const isBad = ({ state }: Stage): boolean => state === 'waiting' || state === 'stopped' || state === 'failed';

/** What the operation says counts most; else the first stage that is not well. A guest without an agent runs all the same. */
const whereItStands = (stages: readonly Stage[], named: Stage['stage'] | undefined): Stage | undefined =>
  stages.find(({ stage }) => stage === named) ?? stages.find((one) => isBad(one) && one.stage !== 'agent');

/** A migration that was cancelled was meant to end so. */
const whereMigrationStands = ({ state, stages }: MigrationWalk): Stage | undefined =>
  state === 'cancelled' ? undefined : stages.find(isBad);

/** Stages that are things of the VM. */
const OWN: ReadonlySet<string> = new Set(['object', 'volumes', 'launcher Pod', 'domain', 'agent']);

function sentenceOf(
  { name: { name }, vmi }: Facts,
  stages: readonly Stage[],
  standsAt: Stage | undefined,
  migration: MigrationWalk | undefined,
): string {
  const runs = `${name} runs on ${vmi?.status?.nodeName ?? 'its node'}`;
  if (standsAt) {
    const { stage, state, remedy } = standsAt;
    if (state === 'stopped') return `${name} is stopped; ${remedy}.`;
    // Messages of failures say what to do as well: once is enough.
    const why = remedy === undefined ? standsAt.why : firstSentence(standsAt.why);
    const because = `because ${why}${remedy === undefined ? '' : `; ${remedy}`}.`;
    if (stage === 'evacuation') return `${runs}; it is to leave that node, and does not yet ${because}`;
    if (!migration?.stages.includes(standsAt))
      return `${name} stands at ${OWN.has(stage) ? 'its ' : ''}${stage} ${because}`;
    return migration.state === 'failed'
      ? `${runs}; its last migration (${migration.name}) failed at ${standsAt.stage} ${because}`
      : `${runs}; its migration ${migration.name} stands at ${standsAt.stage} ${because}`;
  }
  const agent = stages.find(({ stage }) => stage === 'agent');
  if (agent?.state === 'ok') return `${runs}; nothing stands in its way.`;
  const rest = agent && isBad(agent) ? `: ${agent.why}; ${agent.remedy}` : '';
  return vmi?.status?.phase === 'Running' ? `${runs}${rest}.` : `nothing is known to stand in the way of ${name}.`;
}

function unasked({ pods, claims, node, migration, temporal }: Facts): string[] {
  const all = { 'launcher Pods': pods, claims, 'its node': node, migrations: migration, Temporal: temporal };
  const silent = Object.entries(all).flatMap(([what, asked]) => (asked.answered ? [] : [`${what}: ${asked.why}`]));
  if (!temporal.answered) return silent;
  const { entity, operation, migration: moving } = temporal.value;
  return [
    ...silent,
    ...(entity.answered ? [] : [`the instance's workflow: ${entity.why}`]),
    ...[operation, moving].flatMap((one) => (one?.silence === undefined ? [] : [`${one.workflowId}: ${one.silence}`])),
  ];
}
