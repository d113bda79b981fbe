import { condition } from '@temporalio/workflow';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { AdmittedMigration } from '../../api/contract/migrations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import { toFailureInfo, found } from '../shared/failures.ts';
import { proveGone } from '../operation/evidence.ts';
import type { Round } from '../operation/operation.ts';
import { untilPodGone } from '../operation/pod-gone.ts';
import type { PlacedPod } from '../operation/pod-readiness.ts';
import { podReady } from '../operation/pod-readiness.ts';
import { controllerActivities, nodeActivities } from '../shared/proxies.ts';
import { watched } from '../shared/together.ts';
import type { Migration } from './migration.ts';

/** Waits until the target's launcher can be asked. What stands in the way is shown and waited for. @throws PodFailed, DeadlineExceeded */
export const targetReady = (
  { op, on }: Migration,
  pod: PodFacts,
  { timeouts }: Pick<AdmittedMigration, 'timeouts'>,
  round: Round,
): Promise<PlacedPod> => {
  const limitSeconds = ({ unschedulable }: PodFacts): number =>
    unschedulable === undefined ? timeouts.pending : timeouts.unschedulable;
  return podReady(op, { vmi: on.vmi, pod, limitSeconds }, round);
};

/** How the target Pod ended or is ending; undefined: it does not. */
export const targetLost = ({ op: { seen } }: Migration, { uid, name }: PodRef): string | undefined => {
  const facts = seen.pod(uid);
  if (facts === undefined) return undefined;
  if (facts.provenEnded || facts.phase === 'Succeeded' || facts.phase === 'Failed') {
    return `target Pod ${name} ended (${facts.reason ?? facts.phase})`;
  }
  return facts.deleting || facts.gone === true ? `target Pod ${name} was deleted` : undefined;
};

/** Does something in the target Pod; gives it up when the Pod ends. @throws PodFailed */
export const whileTargetLasts = <T>(migration: Migration, pod: PodRef, run: () => Promise<T>): Promise<T> =>
  watched(run, async (isDone) => {
    await condition(() => isDone() || targetLost(migration, pod) !== undefined);
    const lost = targetLost(migration, pod);
    if (lost !== undefined) throw found('PodFailed', `${lost} before the guest could move there.`);
  });

/**
 * Takes back what the target was prepared for. Only once the source is proven to keep the guest: then nothing resumes it here any more. Where nobody
 * answers, the Pod's own end is the proof. @throws StillRunning: the guest runs here, so nothing is touched
 */
export const targetAbandoned = async ({ op, on }: Migration, pod: Required<PodRef>, round: Round): Promise<void> => {
  try {
    await nodeActivities(pod.node, round.summary).abandonMigrationTarget({ ...on, pod });
  } catch (error) {
    const failure = toFailureInfo(error, pod.node);
    if (failure.type === 'StillRunning') throw error;
    await controllerActivities(round.summary).deletePod({ vmi: on.vmi, pod });
    await proveGone(op, on.vmi, pod, round);
    round.note(`nobody could take it back (${failure.message}): its Pod was deleted and has ended`);
  }
};

/** Removes the target Pod, which holds nothing; the one that exists if the answer to its creation was lost. */
export const targetRemoved = async (
  { op, on }: Migration,
  created: PodRef | undefined,
  round: Round,
): Promise<void> => {
  const pod = created ?? (await findTarget(on, round));
  if (pod === undefined) return round.note('there was none');
  await controllerActivities(round.summary).deletePod({ vmi: on.vmi, pod, holdsNoGuest: true });
  await untilPodGone(op, on.vmi, pod, round);
};

const findTarget = async ({ vmi, migration }: Migration['on'], { summary }: Round): Promise<PodRef | undefined> => {
  const { pods } = await controllerActivities(summary).adoptInstance(vmi);
  const target = pods.find((pod) => pod.migration?.uid === migration.uid && pod.gone !== true);
  if (target === undefined) return undefined;
  const { name, uid, node } = target;
  return { name, uid, ...(node === undefined ? {} : { node }) };
};
