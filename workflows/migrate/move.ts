import { CancelledFailure } from '@temporalio/workflow';
import type { CarryOut, MigrationVerdict } from '../../api/contract/migrations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import type { Round } from '../operation/operation.ts';
import { found, isDefect, toFailureInfo } from '../shared/failures.ts';
import { nodeActivities } from '../shared/proxies.ts';
import type { Settled } from './look.ts';
import type { Migration } from './migration.ts';
import { settled } from './settle.ts';
import { targetLost } from './target-pod.ts';

export type Moved = Extract<MigrationVerdict, { kind: 'moved' }>;

/**
 * MigrateVMI: returns when the guest runs in the target.
 * @throws MigrationFailed if it does not, CancelledFailure if somebody wanted that; either way the source is proven to keep the guest, or nobody has it
 */
export const moved = async (migration: Migration, carryOut: CarryOut, round: Round): Promise<Moved> => {
  const { pod: source, target } = carryOut;
  const stop = (): string | undefined => migration.unwanted() ?? targetLost(migration, target);
  return verdictOf(migration, await settled(migration, { parties: { source, target }, carryOut, stop }, round), stop());
};

/** Takes the way out of the source away. A node that cannot now does so when the Pod goes: nothing waits for it. */
export const sourceClosed = async (
  { on }: Migration,
  source: Required<PodRef>,
  { summary, note }: Round,
): Promise<void> => {
  try {
    await nodeActivities(source.node, summary).closeMigrationSource({ ...on, pod: source });
  } catch (error) {
    if (isDefect(error)) throw error;
    note(`left until its Pod goes: ${toFailureInfo(error, source.node).message}`);
  }
};

/** Tells how it ended. @throws as `moved` */
export const verdictOf = (migration: Migration, verdict: Settled, stopped: string | undefined): Moved => {
  const { op, say, unwanted } = migration;
  if (verdict.kind === 'lost') {
    op.found({ end: 'unknown' });
    throw found('MigrationFailed', verdict.message);
  }
  const { numbers } = verdict;
  if (numbers !== undefined) say({ numbers, mode: numbers.mode });
  if (verdict.kind === 'moved') {
    say({ targetRunsSince: verdict.resumedAt });
    return verdict;
  }
  if (unwanted() !== undefined) throw new CancelledFailure('cancelled while it was carried out');
  throw found('MigrationFailed', [...(stopped === undefined ? [] : [stopped]), verdict.message].join(': '));
};
