import type { MigrationEvidence, MigrationVerdict } from '../../api/contract/migrations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import type { MigrationView } from '../../api/launcher/migration.ts';
import { proveGone } from '../operation/evidence.ts';
import { isDefect, toFailureInfo } from '../shared/failures.ts';
import { promptNodeActivities } from '../shared/proxies.ts';
import { now } from '../shared/time.ts';
import type { Migration } from './migration.ts';
import { resolve } from './resolve.ts';

/** The two Pods of a migration. */
export interface Parties {
  source: PodRef;
  target: Required<PodRef>;
}

/** It is known who has the guest, for good. */
export type Settled = MigrationVerdict | { kind: 'lost'; message: string };

export type Seen =
  | Settled
  /** It has not begun, and may. */
  | { kind: 'again' }
  | { kind: 'underWay' }
  | { kind: 'unknown'; message: string };

/**
 * Asks both launchers, and whoever else can prove something, and acts on what they say: resumes a guest that only the target can have, bars a migration
 * that has not begun (unless it `mayBegin`). Never takes anything away from either.
 */
export const look = async (
  migration: Migration,
  parties: Parties,
  { summary, mayBegin }: { summary: string; mayBegin: boolean },
): Promise<Seen> => {
  const evidence = await gather(migration, parties, summary);
  const resolution = resolve(evidence);
  const numbers = evidence.source?.outcome?.kind === 'sourceGone' ? evidence.source.outcome.numbers : undefined;
  const moved: Settled = { kind: 'moved', resumedAt: now(), ...(numbers === undefined ? {} : { numbers }) };
  switch (resolution.kind) {
    case 'forward':
      return moved;
    case 'resume': {
      const { target: pod } = parties;
      const view = await answerOf(promptNodeActivities(pod.node, summary).resumeMigrated({ ...migration.on, pod }));
      if (!('failure' in view) && view.resumed) return { ...moved, resumedAt: now() };
      const why = 'failure' in view ? view.failure : `it has domain ${view.domain}`;
      return { kind: 'unknown', message: `the source is gone and the target did not resume the guest: ${why}` };
    }
    case 'bar': {
      if (mayBegin) return { kind: 'again' };
      const source = await cancelAtSource(migration, parties.source, summary);
      if ('failure' in source) return { kind: 'unknown', message: source.failure };
      const barred = resolve({ ...evidence, source });
      return barred.kind === 'stayed'
        ? barred
        : { kind: 'unknown', message: 'the source runs on and is not barred yet' };
    }
    default:
      return resolution;
  }
};

/** Has the source abort and bar the migration. Only its verdict says what came of that. */
export const cancelAtSource = (
  { on }: Migration,
  pod: PodRef,
  summary: string,
): Promise<MigrationView | { failure: string }> =>
  pod.node === undefined
    ? Promise.resolve({ failure: `it is not known on which node Pod ${pod.name} is.` })
    : answerOf(promptNodeActivities(pod.node, summary).cancelMigration({ ...on, pod }), pod.node);

const gather = async (
  migration: Migration,
  { source, target }: Parties,
  summary: string,
): Promise<MigrationEvidence> => {
  const looking = viewOf(migration, target, `${summary}, target`);
  const ofSource = await viewOf(migration, source, `${summary}, source`);
  // The source keeps the guest and will not send it: whatever the target says, or does not say, changes nothing.
  if (ofSource?.outcome?.kind === 'sourceActive') return { source: ofSource };
  const ofTarget = await looking;
  const evidence: MigrationEvidence = {
    ...(ofSource === undefined ? {} : { source: ofSource }),
    ...(ofTarget === undefined ? {} : { target: ofTarget }),
  };
  // A launcher that knows needs no other witness.
  const isSourceKnown = ofSource !== undefined && ofSource.domain !== 'unknown' && ofSource.outcome?.kind !== 'unknown';
  const isTargetKnown = ofTarget !== undefined && ofTarget.domain !== 'unknown';
  const mayBeLost = !isSourceKnown || ofSource.domain === 'none';
  const [sourceProvenGone, targetProvenGone] = await Promise.all([
    !isSourceKnown && isProvenGone(migration, source, `${summary}, source`),
    !isTargetKnown && mayBeLost && isProvenGone(migration, target, `${summary}, target`),
  ]);
  return { ...evidence, sourceProvenGone, targetProvenGone };
};

/** What the Pod's launcher says; undefined: no answer. */
const viewOf = async ({ on }: Migration, pod: PodRef, summary: string): Promise<MigrationView | undefined> => {
  if (pod.node === undefined) return undefined;
  const answer = await answerOf(promptNodeActivities(pod.node, summary).inspectMigration({ ...on, pod }), pod.node);
  return 'failure' in answer ? undefined : answer;
};

const isProvenGone = async ({ op, on }: Migration, pod: PodRef, summary: string): Promise<boolean> =>
  !('failure' in (await answerOf(proveGone(op, on.vmi, pod, { summary }, { isUrgent: true }))));

const answerOf = async <T extends object>(asked: Promise<T>, node?: string): Promise<T | { failure: string }> => {
  try {
    return await asked;
  } catch (error) {
    if (isDefect(error)) throw error;
    return { failure: toFailureInfo(error, node).message };
  }
};
