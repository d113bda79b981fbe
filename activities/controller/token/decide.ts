import type { PodFacts } from '../../../api/contract/facts.ts';
import type { Holder, Token } from '../../facts/token.ts';

/** What is known, live, of the Pod that a token names. `fenced`: its node is proven unable to run it. */
export interface HolderEvidence {
  pod: PodFacts | 'gone';
  fenced: boolean;
}

export type Acquisition =
  /** This attempt holds it already. */
  | { kind: 'held' }
  /** Write this token. */
  | { kind: 'take'; token: Token }
  /** Somebody else may run the domain. */
  | { kind: 'refused'; type: 'TokenHeld' | 'StaleToken'; why: string };

/**
 * Who may take a run token. A token without a Pod is free for whoever comes next: a domain starts only after its Pod was bound, and binding fails
 * once the epoch has moved on. A token with a Pod passes on only when that Pod is proven to run nothing: a Pod that is merely gone proves nothing.
 * @param evidence of the holder's Pod; needed whenever `token` names one of another attempt
 */
export const decideAcquire = (
  token: Token | undefined,
  wanted: { vmiUid: string; attempt: number },
  evidence: HolderEvidence | undefined,
): Acquisition => {
  const taken: Token = { epoch: (token?.epoch ?? 0) + 1, holder: wanted };
  const holder = token?.holder;
  if (holder === undefined) return { kind: 'take', token: taken };
  if (holder.vmiUid === wanted.vmiUid) {
    if (holder.attempt === wanted.attempt) return { kind: 'held' };
    if (holder.attempt > wanted.attempt) {
      const why = `attempt ${holder.attempt} of the same VMI has taken over from attempt ${wanted.attempt}`;
      return { kind: 'refused', type: 'StaleToken', why };
    }
  }
  if (holder.pod === undefined || isOver(evidence)) return { kind: 'take', token: taken };
  return { kind: 'refused', type: 'TokenHeld', why: heldBy(holder, evidence) };
};

const isOver = (evidence: HolderEvidence | undefined): boolean =>
  evidence !== undefined && (evidence.fenced || (evidence.pod !== 'gone' && evidence.pod.provenEnded));

const heldBy = (holder: Holder, evidence: HolderEvidence | undefined): string => {
  const on = holder.pod?.node === undefined ? '' : ` on node ${holder.pod.node}`;
  const state =
    evidence === undefined || evidence.pod === 'gone'
      ? 'which is gone from the API server without proof that its guest ended'
      : `which is ${evidence.pod.deleting ? 'being deleted' : evidence.pod.phase}`;
  return `VMI ${holder.vmiUid} may run the domain in Pod ${holder.pod?.name} (${holder.pod?.uid})${on}, ${state}`;
};

/**
 * Pods that may still run a domain on the same disks although the token does not say so: a second line behind it, for an object whose finalizers
 * were removed by force, or a Lease that was deleted. A Pod that no node was given cannot run anything.
 */
export const rivals = (pods: PodFacts[], isOurs: (pod: PodFacts) => boolean): PodFacts[] =>
  pods.filter((pod) => !isOurs(pod) && pod.node !== undefined && !pod.provenEnded);
