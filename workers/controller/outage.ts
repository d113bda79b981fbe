import { setTimeout as delay } from 'node:timers/promises';
import type { LeaderOptions, Observation } from './leader.ts';
import { LEASE_MS, mayTake, observe } from './leader.ts';

type Options = Pick<LeaderOptions, 'namespace' | 'name' | 'identity' | 'durationMs' | 'clock'> & {
  kube: Pick<LeaderOptions['kube'], 'get'>;
};

/**
 * Whether a worker that cannot reach Temporal when it starts has to serve users all the same: somebody led before, so this is an outage and no wrong
 * address; and nobody leads now. One that is rolled out beside a worker that works stays unready, so that the rollout stops there. Asked again and again
 * until the signal; `tell` is told the answer.
 */
export const watchOutage = async (
  options: Options,
  tell: (serves: boolean) => void,
  signal: AbortSignal,
): Promise<void> => {
  const { kube, namespace, name, identity, durationMs = LEASE_MS, clock = Date.now } = options;
  let observed: Observation | undefined;
  while (!signal.aborted) {
    try {
      const lease = await kube.get('Lease', { namespace, name });
      const now = clock();
      if (lease !== undefined) observed = observe(lease, observed, now);
      if (!signal.aborted) tell(lease !== undefined && mayTake(lease, identity, observed, now, durationMs));
    } catch {
      // Without the API server nobody is served anyway.
    }
    await delay(durationMs / 5, undefined, { signal }).catch(() => undefined);
  }
};
