import type { PodFacts } from '../../../api/contract/facts.ts';
import type { Holder, Token } from '../../facts/token.ts';

/** What is known, live, of a Pod that a token names. `fenced`: its node is proven unable to run it. */
export interface PodEvidence {
  pod: PodFacts | 'gone';
  fenced: boolean;
}

/** Evidence of every Pod that a token names. */
export interface TokenEvidence {
  holder?: PodEvidence;
  /** Of the Pod to which a migration moves the domain. */
  moving?: PodEvidence;
}

export type Acquisition =
  /** This attempt holds it already. */
  | { kind: 'held' }
  /** Write this token. */
  | { kind: 'take'; token: Token }
  /** Somebody else may run the domain. */
  | { kind: 'refused'; type: 'TokenHeld' | 'StaleToken'; why: string; node?: string };

/**
 * Who may take a run token. A token without a Pod is free for whoever comes next: a domain starts only after its Pod was bound, and binding fails
 * once the epoch has moved on. A token with a Pod passes on only when that Pod is proven to run nothing, a token that a migration is moving only
 * when both Pods are: a Pod that is merely gone proves nothing.
 */
export const decideAcquire = (
  token: Token | undefined,
  wanted: { vmiUid: string; attempt: number },
  evidence: TokenEvidence = {},
): Acquisition => {
  const settled = token?.settled === undefined ? {} : { settled: token.settled };
  const take: Acquisition = { kind: 'take', token: { epoch: (token?.epoch ?? 0) + 1, holder: wanted, ...settled } };
  const holder = token?.holder;
  if (holder === undefined) return take;
  if (holder.vmiUid === wanted.vmiUid) {
    if (holder.attempt === wanted.attempt && token?.moving === undefined) return { kind: 'held' };
    if (holder.attempt > wanted.attempt) {
      const why = `attempt ${holder.attempt} of the same VMI has taken over from attempt ${wanted.attempt}`;
      return { kind: 'refused', type: 'StaleToken', why };
    }
  }
  const occupant = occupantOf(token ?? { epoch: 0 }, evidence);
  return occupant === undefined ? take : { kind: 'refused', type: 'TokenHeld', ...occupant };
};

/** A Pod that the token names and that is not proven to run nothing: why the token is not free. */
export interface Occupant {
  why: string;
  node?: string;
}

/** Who keeps a token from being free; undefined: nobody. */
export const occupantOf = ({ holder, moving }: Token, evidence: TokenEvidence): Occupant | undefined => {
  if (holder === undefined) return undefined;
  const who = `VMI ${holder.vmiUid} may run the domain in`;
  if (holder.pod !== undefined && !isOver(evidence.holder)) return occupant(who, holder.pod, evidence.holder);
  if (moving === undefined || isOver(evidence.moving)) return undefined;
  return occupant(
    `migration ${moving.migration.name} (${moving.migration.uid}) moves it: ${who}`,
    moving.pod,
    evidence.moving,
  );
};

const isOver = (evidence: PodEvidence | undefined): boolean =>
  evidence !== undefined && (evidence.fenced || (evidence.pod !== 'gone' && evidence.pod.provenEnded));

const occupant = (
  who: string,
  { name, uid, node }: NonNullable<Holder['pod']>,
  evidence: PodEvidence | undefined,
): Occupant => {
  const state =
    evidence === undefined || evidence.pod === 'gone'
      ? 'which is gone from the API server without proof that its guest ended'
      : `which is ${evidence.pod.deleting ? 'being deleted' : evidence.pod.phase}`;
  const on = node === undefined ? '' : ` on node ${node}`;
  return { why: `${who} Pod ${name} (${uid})${on}, ${state}`, ...(node === undefined ? {} : { node }) };
};

/**
 * Pods that may still run a domain on the same disks although the token does not say so: a second line behind it, for an object whose finalizers
 * were removed by force, or a Lease that was deleted. A Pod that no node was given cannot run anything.
 */
export const rivals = (pods: PodFacts[], isOurs: (pod: PodFacts) => boolean): PodFacts[] =>
  pods.filter((pod) => !isOurs(pod) && pod.node !== undefined && !pod.provenEnded);
