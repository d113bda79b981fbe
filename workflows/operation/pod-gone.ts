import { condition } from '@temporalio/workflow';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { controllerActivities } from '../shared/proxies.ts';
import type { Operation, Round } from './operation.ts';
import { backOffMs } from './patience.ts';

/** Terminating a Pod takes seconds; from this look on (about a minute) it is worth telling. */
const SLOW_FROM_LOOK = 5;

/**
 * Waits until the API server says that the Pod is gone; deletes it again on each look, which changes nothing if it is being deleted.
 * @param deleted what was left of it when it was deleted just now
 */
export const untilPodGone = async (
  { seen }: Operation,
  vmi: ObjectRef,
  pod: PodRef,
  round: Round,
  deleted?: PodFacts,
): Promise<void> => {
  for (let look = 1; ; look += 1) {
    const summary = look === 1 ? round.summary : `${round.summary}, look ${look}`;
    const known = look === 1 ? deleted : undefined;
    const left = known ?? (await controllerActivities(summary).deletePod({ vmi, pod }));
    if (left.gone === true || seen.pod(pod.uid)?.gone === true) return round.trouble(undefined);
    if (look >= SLOW_FROM_LOOK) {
      const message = `Pod ${pod.name} is still terminating; check the kubelet of node ${left.node ?? 'unknown'}.`;
      round.trouble({ type: 'StillRunning', message });
    }
    await condition(() => seen.pod(pod.uid)?.gone === true, backOffMs(look + 2), {
      summary: `Pod ${pod.name} terminates`,
    });
  }
};
