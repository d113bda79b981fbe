import { setHandler } from '@temporalio/workflow';
import type { GoneEvidence } from '../../api/contract/activities.ts';
import type { GuestEnd, ShutdownInput } from '../../api/contract/operations.ts';
import { bringForward } from '../../api/contract/operations.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { hasEnded } from '../operation/observations.ts';
import type { Operation } from '../operation/operation.ts';
import { guestEnd } from './guest-end.ts';

/** What the steps of a shutdown share. */
export interface Shutdown {
  op: Operation;
  vmi: ObjectRef;
  pod: PodRef;
  /** Where the node's steps run, for their records. */
  on: { node?: string };
  /** When the guest is destroyed at the latest; moves forward only. RFC 3339. */
  deadline: () => string;
  /** Somebody has the guest's end in hand: its launcher was told, or its Pod was deleted. */
  signalled: { by?: 'nodeWorker' | 'podDeletion'; deadline?: string };
  /** Proof that the guest is over, from who has signalled it. */
  gone?: GoneEvidence;
  /** The launcher or the Pod says that the guest is over. */
  isStopped: () => boolean;
  end: () => GuestEnd;
}

/** Registers the handler of bringForward; to be called before the first await. */
export const newShutdown = (op: Operation, { vmi, pod, ...input }: ShutdownInput): Shutdown => {
  let deadline = input.deadline;
  setHandler(bringForward, (earlier) => {
    if (Date.parse(earlier) >= Date.parse(deadline)) return;
    deadline = earlier;
    op.found({ deadline });
    op.seen.call();
  });
  const isStopped = (): boolean => {
    const report = op.seen.domain(pod.uid);
    const facts = op.seen.pod(pod.uid);
    const podEnded = facts !== undefined && (facts.provenEnded || facts.gone === true || facts.fenced !== undefined);
    return (
      input.end !== undefined || podEnded || (report !== undefined && (hasEnded(report) || report.state === 'none'))
    );
  };
  return {
    ...{ op, vmi, pod, isStopped },
    on: pod.node === undefined ? {} : { node: pod.node },
    deadline: () => deadline,
    signalled: {},
    end: () =>
      guestEnd({
        told: input.end,
        report: op.seen.domain(pod.uid),
        pod: op.seen.pod(pod.uid),
        scheduled: pod.node !== undefined,
        started: input.cause !== 'startCancelled',
      }),
  };
};
