import type { RunToken } from '../../api/contract/activities.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
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

export interface Holder {
  vmiUid: string;
  /** Attempt of the start that took the token. */
  attempt: number;
  /** Once bound: the Pod in which the domain may run. */
  pod?: { name: string; uid: string; node?: string };
}

export interface Token {
  epoch: number;
  holder?: Holder;
}

/** Reads a token. */
export const tokenOf = (lease: Lease): Token => {
  const at = (key: keyof typeof HOLDER): string | undefined => lease.metadata?.annotations?.[HOLDER[key]];
  const [vmiUid, name, uid, node] = [at('vmiUid'), at('podName'), at('podUid'), at('node')];
  const epoch = lease.spec?.leaseTransitions ?? 0;
  if (vmiUid === undefined) return { epoch };
  const pod = uid === undefined ? undefined : { name: name ?? '', uid, ...(node === undefined ? {} : { node }) };
  return { epoch, holder: { vmiUid, attempt: Number(at('attempt') ?? 0), ...(pod === undefined ? {} : { pod }) } };
};

/** The Lease that says this. `before` carries name, resourceVersion and foreign annotations over; without it the Lease is new. */
export const leaseOf = (token: Token, vmi: Pick<ObjectRef, 'namespace' | 'name'>, before?: Lease): Lease => {
  const { holder } = token;
  const ours = new Set<string>(Object.values(HOLDER));
  const foreign = Object.entries(before?.metadata?.annotations ?? {}).filter(([key]) => !ours.has(key));
  const annotations = {
    ...Object.fromEntries(foreign),
    ...(holder === undefined
      ? {}
      : { [HOLDER.vmiUid]: holder.vmiUid, [HOLDER.attempt]: String(holder.attempt), ...podAnnotations(holder.pod) }),
  };
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

const podAnnotations = (pod: Holder['pod']): Record<string, string> =>
  pod === undefined
    ? {}
    : {
        [HOLDER.podName]: pod.name,
        [HOLDER.podUid]: pod.uid,
        ...(pod.node === undefined ? {} : { [HOLDER.node]: pod.node }),
      };

/** The token as workflows know it. */
export const runToken = ({ epoch, holder }: Token): RunToken => ({
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
});
