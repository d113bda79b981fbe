import { condition } from '@temporalio/workflow';
import type { NodeActivities } from '../../api/contract/activities.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { namingNode, proveGone } from '../operation/evidence.ts';
import type { Round } from '../operation/operation.ts';
import { controllerActivities, localActivities, nodeActivities, urgentNodeActivities } from '../shared/proxies.ts';
import { after, msUntil, now } from '../shared/time.ts';
import type { Shutdown } from './state.ts';

/** The launcher enforces the deadline itself; we look after it has had the time to. */
const BEHIND_DEADLINE_MS = 10_000;

/**
 * Has the launcher signal its guest and enforce the deadline. With nobody on the node to pass it on, the Pod is deleted instead: its launcher then
 * signals the guest by itself and gives it the grace period.
 */
export const signalGuest = async (shutdown: Shutdown, round: Round): Promise<void> => {
  const { op, vmi, pod } = shutdown;
  if (shutdown.isStopped()) return round.note('the guest had stopped already');
  const live = await localActivities(round.summary).observePod({ vmi, pod, evidence: true });
  op.seen.sawPod(live);
  if (shutdown.isStopped() || pod.node === undefined) {
    return round.note(pod.node === undefined ? 'the Pod never got a node' : 'the Pod had ended already');
  }
  const { node } = pod;
  const deadline = shutdown.deadline();
  try {
    const signalling = nodeActivities(node, round.summary).shutdownDomain({ vmi, pod, deadline });
    // A worker that dies while it waits for the guest's end answers nothing: the next one tells of it.
    await Promise.race([signalling.then((answer) => tookIn(shutdown, answer)), condition(shutdown.isStopped)]);
    Object.assign(shutdown.signalled, { by: 'nodeWorker', deadline });
  } catch (error) {
    const { type, message } = toFailureInfo(error, node);
    if (type !== 'NoWorker' && type !== 'LauncherUnreachable') throw error;
    await controllerActivities(round.summary).deletePod({ vmi, pod });
    shutdown.signalled.by = 'podDeletion';
    round.note(`${message} The Pod was deleted instead: its launcher signals the guest.`);
  }
};

const tookIn = (
  shutdown: Shutdown,
  { gone, ...report }: Awaited<ReturnType<NodeActivities['shutdownDomain']>>,
): void => {
  shutdown.op.seen.sawDomain(report);
  if (gone !== undefined) shutdown.gone = gone;
};

/** Waits for the guest's end, until shortly after the deadline; passes on a deadline that was brought forward. */
export const stopped = async (shutdown: Shutdown, round: Round): Promise<void> => {
  const { op, vmi, pod } = shutdown;
  if (pod.node === undefined) return;
  for (;;) {
    const version = op.seen.version();
    if (shutdown.isStopped()) return noteEnd(shutdown, round);
    await passOnDeadline(shutdown, round);
    const left = msUntil(after(shutdown.deadline(), BEHIND_DEADLINE_MS), now());
    if (left <= 0) break;
    await op.seen.change(version, left, `guest stops by ${shutdown.deadline()}`);
  }
  // An event may have been lost: the Pod is asked before anything is destroyed.
  const live = await controllerActivities(round.summary).observePod({ vmi, pod, evidence: true });
  op.seen.sawPod(live);
  if (shutdown.isStopped()) return noteEnd(shutdown, round);
  round.note('the guest did not stop by its deadline');
};

const noteEnd = ({ end }: Shutdown, round: Round): void => round.note(`guest ended: ${end()}`);

const passOnDeadline = async (shutdown: Shutdown, round: Round): Promise<void> => {
  const { vmi, pod, signalled, deadline } = shutdown;
  const { node } = pod;
  const earlier = deadline();
  if (node === undefined || signalled.deadline === undefined || signalled.deadline === earlier) return;
  signalled.deadline = earlier;
  try {
    tookIn(shutdown, await urgentNodeActivities(node, round.summary).shutdownDomain({ vmi, pod, deadline: earlier }));
  } catch (error) {
    const { type } = toFailureInfo(error, node);
    // Our own timer stands behind the new deadline and destroys.
    if (type !== 'NoWorker' && type !== 'LauncherUnreachable') throw error;
  }
};

/** Proof that the guest is over. One that still runs although it should have ended by its deadline is destroyed once more. */
export const proven = async (shutdown: Shutdown, round: Round): Promise<void> => {
  const { op, vmi, pod, gone } = shutdown;
  try {
    const { by, detail, lastReport } = gone ?? (await proveGone(op, vmi, pod, round, { isAlone: true }));
    if (lastReport !== undefined) op.seen.sawDomain(lastReport);
    round.note(`${by}: ${detail}`);
  } catch (error) {
    const { node } = pod;
    const isLate = msUntil(shutdown.deadline(), now()) <= 0;
    if (node !== undefined && isLate && toFailureInfo(error).type === 'StillRunning') {
      await namingNode(node, () => urgentNodeActivities(node, round.summary).destroyDomain({ vmi, pod }));
    }
    throw error;
  }
};

/** Destroys the domain, unless it has ended in the meantime. */
export const destroyed = async (shutdown: Shutdown, round: Round): Promise<void> => {
  const { op, vmi, pod } = shutdown;
  const { node } = pod;
  if (node === undefined || shutdown.isStopped()) return;
  const live = await controllerActivities(round.summary).observePod({ vmi, pod, evidence: true });
  op.seen.sawPod(live);
  if (shutdown.isStopped()) return noteEnd(shutdown, round);
  try {
    const destroy = urgentNodeActivities(node, round.summary).destroyDomain;
    op.seen.sawDomain(await namingNode(node, () => destroy({ vmi, pod })));
    round.note(`guest ended: ${shutdown.end()}`);
  } catch (error) {
    // A launcher that does not answer cannot destroy; deleting its Pod does, by its grace period.
    if (toFailureInfo(error, node).type === 'LauncherUnreachable') {
      await controllerActivities(round.summary).deletePod({ vmi, pod });
      return round.note('the launcher does not answer: its Pod was deleted');
    }
    throw error;
  }
};
