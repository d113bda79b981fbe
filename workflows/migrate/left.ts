import type { Adoption } from '../../api/contract/activities.ts';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { PodRef } from '../../api/contract/refs.ts';

/**
 * What an earlier run of the same migration has left. `prepared`: a target Pod, and the token never said that the guest moves. `moving`: the guest may
 * be in either Pod. `moved`: the token says that the target holds it.
 */
export type Left =
  | { state: 'prepared'; target: PodRef }
  | { state: 'moving' | 'moved'; target: Required<PodRef>; source?: PodRef; epoch: number };

/** @param uid of the VMIM */
export const leftOf = (uid: string, { token, pods }: Pick<Adoption, 'token' | 'pods'>): Left | undefined => {
  const there = pods.filter(({ gone }) => gone !== true);
  const target = there.find(({ migration }) => migration?.uid === uid);
  const holder = token?.holder;
  if (token?.moving?.migration.uid === uid) {
    const { podName, podUid, node } = token.moving;
    const source = holder?.podUid === undefined ? {} : { source: ofHolder(holder, holder.podUid) };
    return { state: 'moving', target: { name: podName, uid: podUid, node }, epoch: token.epoch, ...source };
  }
  if (target === undefined) return undefined;
  const node = holder?.node ?? target.node;
  if (token === undefined || holder?.podUid !== target.uid || node === undefined) {
    return { state: 'prepared', target: refOf(target) };
  }
  const other = there.find((pod) => pod.uid !== target.uid);
  return {
    ...{ state: 'moved', target: { ...refOf(target), node }, epoch: token.epoch },
    ...(other === undefined ? {} : { source: refOf(other) }),
  };
};

const refOf = ({ name, uid, node }: PodFacts): PodRef => ({ name, uid, ...(node === undefined ? {} : { node }) });

const ofHolder = ({ podName, node }: { podName?: string; node?: string }, uid: string): PodRef => ({
  ...{ name: podName ?? uid, uid },
  ...(node === undefined ? {} : { node }),
});
