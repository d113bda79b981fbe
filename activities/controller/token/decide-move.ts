import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import type { Holder, Token } from '../../facts/token.ts';

export type MoveDecision =
  /** The token says so already. */
  | { kind: 'done' }
  /** Write this token. */
  | { kind: 'write'; token: Token }
  /** Somebody else took over, or the migration was settled before. */
  | { kind: 'stale'; why: string };

interface Move {
  vmi: Pick<ObjectRef, 'uid'>;
  migration: Pick<ObjectRef, 'name' | 'uid'>;
}

/**
 * From "source" to "moving from source to target". A migration that was settled never moves the token again: a request of it that was held up on its
 * way must not tie a token that nobody will settle.
 */
export const decideRecord = (
  token: Token,
  { vmi, migration, source, target, epoch }: Move & { source: PodRef; target: Required<PodRef>; epoch: number },
): MoveDecision => {
  const { moving, settled } = token;
  if (token.epoch !== epoch) return stale(`is at epoch ${token.epoch}, not at ${epoch}`);
  const holder = heldIn(token, vmi, source);
  if (holder === undefined) return notHeldIn(token, vmi, source);
  if (settled === migration.uid) return stale(`says that migration ${migration.name} was settled: the source kept it`);
  if (moving !== undefined) {
    const same = moving.migration.uid === migration.uid && moving.pod.uid === target.uid;
    return same ? { kind: 'done' } : stale(moves(moving));
  }
  const { name, uid, node } = target;
  return {
    kind: 'write',
    token: { ...token, moving: { migration: { name: migration.name, uid: migration.uid }, pod: { name, uid, node } } },
  };
};

/** From "moving" back to "source". Written even if nothing moved: a record of the move that is still on its way then finds another version. */
export const decideStay = (token: Token, { vmi, migration, source }: Move & { source: PodRef }): MoveDecision => {
  const { epoch, holder, moving, settled } = token;
  if (heldIn(token, vmi, source) === undefined || holder === undefined) return notHeldIn(token, vmi, source);
  if (moving !== undefined && moving.migration.uid !== migration.uid) return stale(moves(moving));
  if (moving === undefined && settled === migration.uid) return { kind: 'done' };
  return { kind: 'write', token: { epoch, holder, settled: migration.uid } };
};

/** From "moving" to "target", under a new epoch: what carries the old one is refused from then on. */
export const decideMove = (
  token: Token,
  { vmi, migration, target }: Move & { target: Required<PodRef> },
): MoveDecision => {
  const { epoch, holder, moving } = token;
  if (moving === undefined && heldIn(token, vmi, target) !== undefined) return { kind: 'done' };
  if (holder?.vmiUid !== vmi.uid || moving === undefined) return notHeldIn(token, vmi, target);
  if (moving.migration.uid !== migration.uid || moving.pod.uid !== target.uid) return stale(moves(moving));
  const { name, uid, node } = target;
  return {
    kind: 'write',
    token: { epoch: epoch + 1, holder: { ...holder, pod: { name, uid, node } }, settled: migration.uid },
  };
};

/** The holder, if it is this VMI in this Pod. */
const heldIn = ({ holder }: Token, vmi: Pick<ObjectRef, 'uid'>, pod: PodRef): Holder | undefined =>
  holder?.vmiUid === vmi.uid && holder.pod?.uid === pod.uid ? holder : undefined;

const notHeldIn = ({ epoch, holder }: Token, vmi: Pick<ObjectRef, 'uid'>, { name, uid }: PodRef): MoveDecision => {
  const wanted = `VMI ${vmi.uid} in Pod ${name} (${uid})`;
  const pod = holder?.pod === undefined ? 'no Pod' : `Pod ${holder.pod.name} (${holder.pod.uid})`;
  const held = holder === undefined ? 'free' : `held by VMI ${holder.vmiUid} in ${pod}`;
  return stale(`is at epoch ${epoch} ${held}, not held by ${wanted}`);
};

const moves = ({ migration, pod }: NonNullable<Token['moving']>): string =>
  `is being moved by migration ${migration.name} (${migration.uid}) to Pod ${pod.name} (${pod.uid})`;

const stale = (why: string): MoveDecision => ({ kind: 'stale', why });
