import { condition } from '@temporalio/workflow';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { found } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';
import { watched } from '../shared/together.ts';
import type { Operation, Round } from './operation.ts';

export type PlacedPod = Required<PodRef>;

export interface Awaited {
  vmi: ObjectRef;
  /** As it was created, or as it was seen last. */
  pod: PodFacts;
  /** How long it may take while these are the facts, in seconds. */
  limitSeconds: (facts: PodFacts) => number;
}

/** Events come by signal; looking is for one that was lost. */
const LOOK_AFTER_MS = [5_000, 10_000, 30_000, 60_000];
const LOOK_EVERY_MS = 300_000;
/** That a Pod has just got its node is no event (docs/adr/0025). */
const LOOK_FOR_NODE_AFTER_MS = [1_000, 2_000, ...LOOK_AFTER_MS];

/** Waits until the Pod has a node. What stands in the way is shown and waited for. @throws PodFailed, DeadlineExceeded */
export const podPlaced = (op: Operation, awaited: Awaited, round: Round): Promise<PlacedPod> =>
  podUntil(op, awaited, round, () => true, LOOK_FOR_NODE_AFTER_MS);

/**
 * Waits until `compute` runs and all other containers are ready, or until the launcher itself is heard, which is sooner: the kubelet tells its
 * containers' states about every second. Images' containers may then still be on their way. @throws PodFailed, DeadlineExceeded
 */
export const podReady = (op: Operation, awaited: Awaited, round: Round): Promise<PlacedPod> =>
  podUntil(op, awaited, round, ({ uid, computeReady }) => computeReady || op.seen.domain(uid) !== undefined);

/**
 * Does something with the Pod, and shows meanwhile what keeps its containers from running.
 * @param from since when it does; until then somebody else shows it
 */
export const whilePodStarts = <T>(
  { seen }: Operation,
  { uid }: PodRef,
  round: Round,
  run: () => Promise<T>,
  from: () => boolean = () => true,
): Promise<T> =>
  watched(run, async (isDone) => {
    await condition(() => isDone() || from());
    while (!isDone()) {
      const version = seen.version();
      const facts = seen.pod(uid);
      if (facts !== undefined) round.trouble(obstacleOf(facts));
      await condition(() => isDone() || seen.version() > version);
    }
  });

const podUntil = async (
  { seen }: Operation,
  { vmi, pod, limitSeconds }: Awaited,
  round: Round,
  isReady: (facts: PodFacts) => boolean,
  lookAfterMs = LOOK_AFTER_MS,
): Promise<PlacedPod> => {
  const since = now();
  const { name, uid } = pod;
  let live = pod;
  for (let look = 0; ; look += 1) {
    for (let isNew = true; isNew;) {
      const version = seen.version();
      const facts = seen.pod(uid) ?? live;
      refuseEnded(facts);
      if (facts.node !== undefined && isReady(facts)) {
        round.trouble(undefined);
        return { name, uid, node: facts.node };
      }
      round.trouble(obstacleOf(facts));
      const limit = limitSeconds(facts);
      const left = limit * 1000 - msUntil(now(), since);
      if (left <= 0)
        throw found('DeadlineExceeded', `Pod ${name} was not ready within ${limit} s: ${describeObstacle(facts)}`);
      await seen.change(version, Math.min(left, lookAfterMs[look] ?? LOOK_EVERY_MS), `Pod ${name} gets ready`);
      isNew = seen.version() > version;
    }
    live = await controllerActivities(`${round.summary}, look ${look + 1}`).observePod({ vmi, pod });
    seen.sawPod(live);
  }
};

/** @throws PodFailed */
const refuseEnded = (facts: PodFacts): void => {
  const ended = facts.phase === 'Succeeded' || facts.phase === 'Failed';
  if (!ended && !facts.deleting && facts.gone !== true) return;
  const how = ended ? `ended (${facts.reason ?? facts.phase})` : 'was deleted';
  throw found(
    'PodFailed',
    `Pod ${facts.name} ${how} before the domain ran; see its events and the log of its container compute.`,
  );
};

/** Why its containers do not run yet, if it says so. */
const obstacleOf = ({ name, unschedulable, waiting }: PodFacts): FailureInfo | undefined => {
  if (unschedulable !== undefined) {
    const text = `Pod ${name} cannot be scheduled (${unschedulable.reason}): ${unschedulable.message}`;
    return { type: 'PodNotReady', message: text };
  }
  if (waiting === undefined) return undefined;
  const text = `container ${waiting.container} of Pod ${name} cannot start (${waiting.reason}): ${waiting.message}`;
  return { type: 'PodNotReady', message: text };
};

const describeObstacle = (facts: PodFacts): string => obstacleOf(facts)?.message ?? `its phase is ${facts.phase}.`;
