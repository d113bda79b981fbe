import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { namingNode, proveGone } from '../operation/evidence.ts';
import type { Operation, Round, Why } from '../operation/operation.ts';
import { found, toFailureInfo } from '../shared/failures.ts';
import { controllerActivities, urgentNodeActivities } from '../shared/proxies.ts';

export interface Retiring {
  vmi: ObjectRef;
  /** The Pod whose node worker was asked to start the domain; absent: none was, so no Pod can hold a guest. */
  asked: PodRef | undefined;
  /** Uids of Pods proven not to hold the guest; kept over rounds. */
  proven: string[];
  why: Why;
}

/**
 * Takes back the launcher Pods of a start: live read (an answer may have been lost), then each proven not to hold the guest and deleted.
 * The token of the attempt forbids that a Pod of another attempt is among them. A guest that runs although its start was cancelled is kept: it gets
 * its shutdown by shutdownInstance. Returns the Pod that must stay.
 * @throws Unproven, StillRunning, …: to be tried again
 */
export const retirePods = async (op: Operation, retiring: Retiring, round: Round): Promise<PodRef | undefined> => {
  const { vmi, asked, proven } = retiring;
  const { adoptInstance, deletePod } = controllerActivities(round.summary);
  const listed = (await adoptInstance(vmi)).pods.filter(({ gone }) => gone !== true);
  for (const { name, uid, node } of listed) {
    const pod = { name, uid, ...(node === undefined ? {} : { node }) };
    if (pod.uid === asked?.uid && (await endGuest(op, retiring, pod, round)) === 'keep') return pod;
    const left = await deletePod({ vmi, pod, holdsNoGuest: true });
    if (left.gone !== true) throw found('StillRunning', `Pod ${name} is still terminating.`);
  }
  // Gone from the API server is no proof.
  if (asked !== undefined && !proven.includes(asked.uid)) await proveGone(op, vmi, asked, round);
  return undefined;
};

const endGuest = async (op: Operation, retiring: Retiring, pod: PodRef, round: Round): Promise<'ended' | 'keep'> => {
  const { vmi, why, proven } = retiring;
  if (proven.includes(pod.uid)) return 'ended';
  try {
    await proveGone(op, vmi, pod, round);
  } catch (error) {
    const { type } = toFailureInfo(error);
    if (type === 'StillRunning' && why === 'cancelled') return 'keep';
    // Nobody may answer there: the launcher ends its guest when its Pod is deleted; what is left to do is to wait for the proof.
    if (type === 'NoWorker' || type === 'Unproven') await controllerActivities(round.summary).deletePod({ vmi, pod });
    if (type !== 'StillRunning') throw error;
    await destroy(vmi, pod, round);
    await proveGone(op, vmi, pod, round);
  }
  proven.push(pod.uid);
  return 'ended';
};

const destroy = async (vmi: ObjectRef, pod: PodRef, { summary }: Round): Promise<void> => {
  const { node } = pod;
  if (node === undefined) return;
  await namingNode(node, () => urgentNodeActivities(node, summary).destroyDomain({ vmi, pod }));
};
