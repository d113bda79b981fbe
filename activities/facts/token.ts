import type { RunToken } from '../../api/contract/activities.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { tokenName } from '../../api/contract/refs.ts';
import type { Lease } from '../../api/kubernetes/types.ts';

/**
 * The run token as it is written: a Lease whose annotations name the holder and whose leaseTransitions count the epoch. No holder: free. It is
 * never owned by the VMI, so that it outlives an object that is removed by force.
 */
const HOLDER = {
  vmiUid: 'virtflow.io/vmi-uid',
  attempt: 'virtflow.io/attempt',
  podName: 'virtflow.io/pod-name',
  podUid: 'virtflow.io/pod-uid',
  node: 'virtflow.io/node',
} as const;

/** Further annotations, while a migration moves the domain from the holder's Pod to another one. */
const MOVING = {
  migrationName: 'virtflow.io/moving-by-migration',
  migrationUid: 'virtflow.io/moving-by-migration-uid',
  podName: 'virtflow.io/moving-to-pod',
  podUid: 'virtflow.io/moving-to-pod-uid',
  node: 'virtflow.io/moving-to-node',
} as const;

/** Uid of the migration that was settled last: it never moves the token again. */
const SETTLED = 'virtflow.io/settled-migration-uid';
const OURS = new Set<string>([...Object.values(HOLDER), ...Object.values(MOVING), SETTLED]);

export interface Holder {
  vmiUid: string;
  /** Attempt of the start that took the token. */
  attempt: number;
  /** Once bound: the Pod in which the domain may run. */
  pod?: { name: string; uid: string; node?: string };
}

/** The Pod to which a migration moves the domain: it or the holder's may run it. */
export interface Moving {
  migration: { name: string; uid: string };
  pod: Required<PodRef>;
}

export interface Token {
  epoch: number;
  holder?: Holder;
  /** Only beside a holder with a Pod. */
  moving?: Moving;
  /** Uid of the migration that was settled last, with whatever outcome. */
  settled?: string;
}

/** Reads a token. */
export const tokenOf = (lease: Lease): Token => {
  const annotations = lease.metadata?.annotations ?? {};
  const epoch = lease.spec?.leaseTransitions ?? 0;
  const settled = annotations[SETTLED] === undefined ? {} : { settled: annotations[SETTLED] };
  const vmiUid = annotations[HOLDER.vmiUid];
  if (vmiUid === undefined) return { epoch, ...settled };
  const [name, uid, node] = [annotations[HOLDER.podName], annotations[HOLDER.podUid], annotations[HOLDER.node]];
  const pod = uid === undefined ? undefined : { name: name ?? '', uid, ...(node === undefined ? {} : { node }) };
  const moving = movingOf(annotations);
  return {
    epoch,
    holder: { vmiUid, attempt: Number(annotations[HOLDER.attempt] ?? 0), ...(pod === undefined ? {} : { pod }) },
    ...(moving === undefined ? {} : { moving }),
    ...settled,
  };
};

/** A Pod's uid is enough to say that it may run the domain: whatever else is missing is empty. */
const movingOf = (annotations: Record<string, string>): Moving | undefined => {
  const at = (key: keyof typeof MOVING): string => annotations[MOVING[key]] ?? '';
  if (at('podUid') === '') return undefined;
  return {
    migration: { name: at('migrationName'), uid: at('migrationUid') },
    pod: { name: at('podName'), uid: at('podUid'), node: at('node') },
  };
};

/** The Lease that says this. `before` carries name, resourceVersion and foreign annotations over; without it the Lease is new. */
export const leaseOf = (token: Token, vmi: Pick<ObjectRef, 'namespace' | 'name'>, before?: Lease): Lease => {
  const { holder } = token;
  const foreign = Object.entries(before?.metadata?.annotations ?? {}).filter(([key]) => !OURS.has(key));
  const annotations = { ...Object.fromEntries(foreign), ...annotationsOf(token) };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...before?.metadata, namespace: vmi.namespace, name: tokenName(vmi), annotations },
    spec: {
      leaseTransitions: token.epoch,
      ...(holder === undefined ? {} : { holderIdentity: holder.pod?.name ?? `vmi-${holder.vmiUid}` }),
    },
  };
};

const annotationsOf = ({ holder, moving, settled }: Token): Record<string, string> => ({
  ...(holder === undefined
    ? {}
    : { [HOLDER.vmiUid]: holder.vmiUid, [HOLDER.attempt]: String(holder.attempt), ...podAnnotations(holder.pod) }),
  ...(moving === undefined ? {} : movingAnnotations(moving)),
  ...(settled === undefined ? {} : { [SETTLED]: settled }),
});

const movingAnnotations = ({ migration, pod }: Moving): Record<string, string> => ({
  [MOVING.migrationName]: migration.name,
  [MOVING.migrationUid]: migration.uid,
  [MOVING.podName]: pod.name,
  [MOVING.podUid]: pod.uid,
  [MOVING.node]: pod.node,
});

const podAnnotations = (pod: Holder['pod']): Record<string, string> =>
  pod === undefined
    ? {}
    : {
        [HOLDER.podName]: pod.name,
        [HOLDER.podUid]: pod.uid,
        ...(pod.node === undefined ? {} : { [HOLDER.node]: pod.node }),
      };

/** The token as workflows know it. */
export const runToken = ({ epoch, holder, moving }: Token): RunToken => ({
  epoch,
  ...(holder === undefined
    ? {}
    : {
        holder: {
          vmiUid: holder.vmiUid,
          attempt: holder.attempt,
          ...(holder.pod === undefined ? {} : { podUid: holder.pod.uid, podName: holder.pod.name }),
          ...(holder.pod?.node === undefined ? {} : { node: holder.pod.node }),
        },
      }),
  ...(moving === undefined
    ? {}
    : {
        moving: {
          migration: moving.migration,
          podUid: moving.pod.uid,
          podName: moving.pod.name,
          node: moving.pod.node,
        },
      }),
});
