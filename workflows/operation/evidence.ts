import type { GoneEvidence } from '../../api/contract/activities.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { found, toFailureInfo } from '../shared/failures.ts';
import { controllerActivities, localActivities, nodeActivities, promptNodeActivities } from '../shared/proxies.ts';
import type { Operation, Round } from './operation.ts';

/**
 * Proof that nothing of a VM runs in a Pod: its kubelet says that it has ended (seen live, or by an event before the object went), or its node's
 * worker says so, or its node is fenced. A Pod that no node was chosen for never held anything. That a Pod is gone from the API server proves nothing.
 * @param isAlone nothing else goes on in the operation meanwhile, and what follows from the proof is done over a queue
 * @throws StillRunning, Unproven, NoWorker
 */
export const proveGone = async (
  { seen }: Pick<Operation, 'seen'>,
  vmi: ObjectRef,
  pod: PodRef,
  { summary }: Pick<Round, 'summary'>,
  { isUrgent = false, isAlone = false }: { isUrgent?: boolean; isAlone?: boolean } = {},
): Promise<GoneEvidence> => {
  const { observePod } = isAlone ? localActivities(summary) : controllerActivities(summary);
  const live = await observePod({ vmi, pod, evidence: true });
  const told = seen.pod(pod.uid);
  if (live.provenEnded || told?.provenEnded === true) {
    return { by: 'podEnded', detail: `all containers of Pod ${pod.name} have terminated` };
  }
  if (live.fenced !== undefined) return { by: 'fenced', detail: live.fenced };
  const node = pod.node ?? live.node ?? told?.node;
  if (node === undefined && live.gone !== true) return { by: 'podEnded', detail: `Pod ${pod.name} never got a node` };
  if (node === undefined) {
    throw found('Unproven', `Pod ${pod.name} is gone and it is not known on which node it was; see its events.`);
  }
  const onNode = isUrgent ? promptNodeActivities : nodeActivities;
  return await namingNode(node, () => onNode(node, summary).proveDomainGone({ vmi, pod: { ...pod, node } }));
};

/** Has "no worker" say on which node. */
export const namingNode = async <T>(node: string, call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    const failure = toFailureInfo(error, node);
    throw failure.type === 'NoWorker' ? found('NoWorker', failure.message) : error;
  }
};
