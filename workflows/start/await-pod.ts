import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import type { Operation, Round } from '../operation/operation.ts';
import { WAIT_LIMIT_MS, backOffMs } from '../operation/patience.ts';
import { describeObstacle, obstacleOf, refuseEnded } from '../operation/pod-readiness.ts';
import { found } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';

/**
 * Waits until `compute` runs and all other containers are ready. Begins with a live read, so that no event can be missed; what stands in the way
 * (unschedulable, an image) is shown and waited for. @throws PodFailed, DeadlineExceeded
 */
export const podReady = async (
  { seen }: Operation,
  vmi: ObjectRef,
  pod: PodRef,
  round: Round,
): Promise<Required<PodRef>> => {
  const since = now();
  for (let look = 1; ; look += 1) {
    const version = seen.version();
    const live = await controllerActivities(look === 1 ? round.summary : `${round.summary}, look ${look}`).observePod({
      ...{ vmi, pod },
    });
    let facts = live;
    for (;;) {
      refuseEnded(facts);
      if (facts.node !== undefined && facts.computeReady) {
        round.trouble(undefined);
        return { name: facts.name, uid: facts.uid, node: facts.node };
      }
      round.trouble(obstacleOf(facts));
      const newer = seen.pod(pod.uid);
      if (newer === undefined || newer === facts || seen.version() === version) break;
      facts = newer;
    }
    const left = WAIT_LIMIT_MS + msUntil(since, now());
    if (left <= 0)
      throw found('DeadlineExceeded', `Pod ${pod.name} was not ready within a day: ${describeObstacle(facts)}`);
    // Events come by signal; looking again is for one that was lost.
    await seen.change(version, Math.min(left, backOffMs(look + 6)), `Pod ${pod.name} gets ready`);
  }
};
