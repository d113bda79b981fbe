import type { Adoption } from '../../api/contract/activities.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { InstanceState } from './state.ts';

type World = Pick<Adoption, 'token' | 'pods'>;

/** Migrations of which something is there: the token names one, or a Pod was created as a target; the token's first. */
export const migrationsOf = (vmi: ObjectRef, { token, pods }: World): ObjectRef[] => {
  const named = [token?.moving?.migration, ...pods.map(({ migration }) => migration)].flatMap((one) => one ?? []);
  const first = named.filter(({ uid }, index) => named.findIndex((other) => other.uid === uid) === index);
  return first.map(({ name, uid }) => ({ namespace: vmi.namespace, name, uid }));
};

/**
 * The migration that has left something behind which only it can judge: the token says that the guest is moving; a target Pod stands beside the Pod that
 * holds the token; or the guest has moved and the Pod that it came from is still there.
 */
export const leftBehind = ({ ref, settled }: InstanceState, { token, pods }: World): ObjectRef | undefined => {
  const there = pods.filter(({ gone }) => gone !== true);
  const holder = token?.holder?.vmiUid === ref.uid ? token.holder.podUid : undefined;
  const hasMoved = there.some(({ uid }) => uid !== holder);
  const pending = there.filter(({ uid }) => uid !== holder || hasMoved);
  return migrationsOf(ref, { ...(token === undefined ? {} : { token }), pods: pending }).find(
    ({ uid }) => !settled.includes(uid),
  );
};
