import { condition } from '@temporalio/workflow';
import type { RunToken } from '../../api/contract/activities.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import { proveGone } from '../operation/evidence.ts';
import { hasEnded } from '../operation/observations.ts';
import type { Round } from '../operation/operation.ts';
import { backOffMs } from '../operation/patience.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { controllerActivities, nodeActivities } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';
import { together } from '../shared/together.ts';
import type { Parties } from './look.ts';
import type { Migration } from './migration.ts';

/** How long a source's node is waited for when its Pod is gone already. */
const CLEARED_WITHIN_MS = 10 * 60_000;

/**
 * What comes after the point of no return: the target is made the guest's home, then what it has left is cleared away. Nothing of it can be given up.
 */
export const goForward = async (
  migration: Migration,
  { source, target }: { source?: PodRef; target: Parties['target'] },
  epoch: number,
): Promise<void> => {
  const { op, report } = migration;
  const { node } = target;
  // Both are due at once; the token's next epoch is known before it is written.
  const [, token] = await together(
    () =>
      op.step('FinalizeMigration', {
        node,
        endless: 'whatever',
        run: (round) => finalized(migration, target, epoch + 1, round),
      }),
    () => op.step('MoveToken', { endless: 'whatever', run: (round) => tokenMoved(migration, target, round) }),
  );
  if (token !== undefined && token.epoch !== epoch + 1) {
    const run = (round: Round): Promise<void> => finalized(migration, target, token.epoch, round);
    await op.step('FinalizeMigration', { node, endless: 'whatever', run });
  }
  report.succeed();
  op.found({ pod: target, epoch: token?.epoch ?? epoch + 1, migration: report.now() });
  op.enter('Succeeded');
  if (source === undefined) return;
  const on = source.node === undefined ? {} : { node: source.node };
  const since = now();
  await op.step('RetireSource', {
    ...on,
    endless: 'whatever',
    run: (round) => retired(migration, source, since, round),
  });
};

/** A guest that has ended in the meantime needs nothing any more: its instance deals with its end. */
const finalized = async (
  { op, on, unwanted }: Migration,
  pod: Required<PodRef>,
  epoch: number,
  { summary, note }: Round,
): Promise<void> => {
  const isOver = (): boolean => {
    const report = op.seen.domain(pod.uid);
    return (report !== undefined && hasEnded(report)) || op.seen.pod(pod.uid)?.provenEnded === true;
  };
  try {
    op.seen.sawDomain(await nodeActivities(pod.node, summary).finalizeMigration({ ...on, pod, epoch }));
  } catch (error) {
    const { type, message } = toFailureInfo(error, pod.node);
    // A guest that shall be shut down needs no home.
    if (type !== 'ObjectGone' && !isOver() && unwanted() === undefined) throw error;
    note(`the guest has ended or shall end: ${message}`);
  }
};

/** Undefined: the VMI is gone by force, and its token with it. */
const tokenMoved = async (
  { on }: Migration,
  target: Required<PodRef>,
  { summary, note }: Round,
): Promise<RunToken | undefined> => {
  try {
    return await controllerActivities(summary).moveToken({ ...on, target });
  } catch (error) {
    const { type, message } = toFailureInfo(error);
    if (type !== 'ObjectGone') throw error;
    note(message);
    return undefined;
  }
};

/**
 * Clears away what the guest has left: the proxy, the mounts, the Pod. A VMI that shall end does not wait for the Pod: its own shutdown removes it.
 */
const retired = async (migration: Migration, pod: PodRef, since: string, round: Round): Promise<void> => {
  const { op, on, unwanted } = migration;
  const { vmi } = on;
  const { summary } = round;
  const proof = await tried(async () => {
    if (pod.node !== undefined) await nodeActivities(pod.node, summary).closeMigrationSource({ ...on, pod });
    return proveGone(op, vmi, pod, round);
  });
  const isProven = proof === undefined;
  for (let looks = 1; ; looks += 1) {
    const named = looks === 1 ? summary : `${summary}, look ${looks}`;
    const left = await controllerActivities(named).deletePod({ vmi, pod, ...(isProven ? { holdsNoGuest: true } : {}) });
    if (left.gone === true || op.seen.pod(pod.uid)?.gone === true) break;
    if (unwanted() !== undefined) return round.note('its Pod is left to the shutdown of the VMI');
    const isWoken = (): boolean => op.seen.pod(pod.uid)?.gone === true || unwanted() !== undefined;
    await condition(isWoken, backOffMs(looks + 2), { summary: `Pod ${pod.name} terminates` });
  }
  // That the guest has left was proven before it was resumed; what is left to do is on the node, once its worker is back.
  const isInVain = unwanted() !== undefined || msUntil(now(), since) >= CLEARED_WITHIN_MS;
  if (!isProven && !isInVain) await proveGone(op, vmi, pod, round);
};

/** Why it failed; undefined: it did not. */
const tried = async (run: () => Promise<unknown>): Promise<string | undefined> => {
  try {
    await run();
    return undefined;
  } catch (error) {
    return toFailureInfo(error).message;
  }
};
