import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../api/kubernetes/types.ts';
import { isConflict, isAlreadyExists } from '../../activities/kube/errors.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { Logger } from '../shared/logging.ts';

export interface LeaderOptions {
  kube: KubePort;
  namespace: string;
  name: string;
  /** Of this process: stable over restarts of the same Pod, so that it takes its own Lease back at once. */
  identity: string;
  log: Logger;
  /** How long a leader that went silent is still respected, in ms. */
  durationMs?: number;
  clock?: () => number;
}

/** What another candidate's Lease looked like, and since when on our own clock (clocks of other machines are not compared). */
export interface Observation {
  key: string;
  since: number;
}

/** How long a leader that went silent is still respected by default, in ms. */
export const LEASE_MS = 15_000;

/** Whether a candidate may take the Lease. */
export const mayTake = (
  lease: Lease | undefined,
  identity: string,
  observed: Observation | undefined,
  now: number,
  durationMs: number,
): boolean => {
  const holder = lease?.spec?.holderIdentity;
  if (lease === undefined || holder === undefined || holder === '' || holder === identity) return true;
  return observed?.key === observationKey(lease) && now - observed.since > durationMs;
};

/** What is known of another's Lease after a look at it. */
export const observe = (lease: Lease, before: Observation | undefined, now: number): Observation => {
  const key = observationKey(lease);
  return before?.key === key ? before : { key, since: now };
};

const observationKey = (lease: Lease): string => `${lease.spec?.holderIdentity} ${lease.metadata?.resourceVersion}`;

/**
 * Calls `lead` while this process holds the Lease; its signal is aborted when the Lease is lost or the process stops. Two leaders at once do no harm
 * here (signals are told twice), so no fencing is needed.
 */
export const runLeaderElection = async (
  options: LeaderOptions,
  lead: (signal: AbortSignal) => void,
  signal: AbortSignal,
): Promise<void> => {
  const { kube, namespace, name, identity, log, durationMs = LEASE_MS, clock = Date.now } = options;
  let observed: Observation | undefined;
  let leading: AbortController | undefined;
  let renewedAt = 0;

  const attempt = async (): Promise<boolean> => {
    const lease = await kube.get('Lease', { namespace, name });
    const now = clock();
    if (!mayTake(lease, identity, observed, now, durationMs)) {
      if (lease !== undefined) observed = observe(lease, observed, now);
      return false;
    }
    const isNew = lease?.spec?.holderIdentity !== identity;
    const time = new Date(now).toISOString().replace('Z', '000Z');
    const next: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...lease?.metadata, namespace, name },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.round(durationMs / 1000),
        acquireTime: isNew ? time : (lease.spec?.acquireTime ?? time),
        renewTime: time,
        leaseTransitions: (lease?.spec?.leaseTransitions ?? 0) + (isNew ? 1 : 0),
      },
    };
    await (lease === undefined ? kube.create('Lease', next) : kube.replace('Lease', next));
    return true;
  };

  const step = async (): Promise<void> => {
    try {
      if (await attempt()) {
        renewedAt = clock();
        if (leading === undefined) {
          log.info({ identity }, 'leading');
          leading = new AbortController();
          lead(leading.signal);
        }
        return;
      }
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) log.warn({ err: error }, 'leader election interrupted');
      // Until the Lease runs out nobody else leads.
      if (leading !== undefined && clock() - renewedAt < durationMs) return;
    }
    if (leading !== undefined) log.warn({ identity }, 'no longer leading');
    leading?.abort();
    leading = undefined;
  };

  while (!signal.aborted) {
    await step();
    await delay(durationMs / 5 + Math.random() * 500, undefined, { signal }).catch(() => undefined);
  }
  leading?.abort();
};
