import type { Replica, ReplicaSetView } from '../../api/contract/replica-sets.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';

/** As many are created, or deleted, at a time (KubeVirt at most 250). */
export const AT_A_TIME = 50;

export interface Plan {
  /** How many more there must be. */
  create: number;
  /** VMIs to delete: those that are too many, and those that have ended. */
  remove: ObjectRef[];
}

/** What is done for a replica set as it is now. Pure. @param waits none are created yet */
export const plan = (
  { gone, deleting, paused, invalid, wanted, replicas }: ReplicaSetView,
  { waits = false } = {},
): Plan => {
  // The garbage collector sees to the VMIs of one that is deleted.
  if (gone === true || deleting || paused || invalid !== undefined) return { create: 0, remove: [] };
  const active = replicas.filter(({ standing }) => standing === 'active');
  const missing = wanted - active.length;
  const ended = replicas.filter(({ standing }) => standing === 'ended');
  const superfluous = missing < 0 ? [...active].sort(byWorth).slice(0, -missing) : [];
  return {
    create: waits ? 0 : Math.min(Math.max(0, missing), AT_A_TIME),
    remove: [...superfluous, ...ended].slice(0, AT_A_TIME).map(({ vmi }) => vmi),
  };
};

/** First what is missed least: one that is not ready, then the youngest. */
const byWorth = (a: Replica, b: Replica): number =>
  Number(a.ready) - Number(b.ready) || b.createdAt.localeCompare(a.createdAt) || a.vmi.name.localeCompare(b.vmi.name);
