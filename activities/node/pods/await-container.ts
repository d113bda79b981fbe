import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { failure } from '../../failures.ts';
import type { NodePorts } from '../ports.ts';
import type { Container } from './container.ts';
import { containerStatus, openContainer } from './container.ts';

export interface AwaitOptions {
  /** Live read of the Pod. @throws PodFailed when it has ended */
  read: () => Promise<Pod>;
  cancelled: AbortSignal;
  /** Longest wait, and time between two looks at the node and at the API server. */
  times?: { waitMs: number; pollMs: number; readMs: number };
}

const TIMES = { waitMs: 60_000, pollMs: 20, readMs: 2_000 };

/**
 * Opens a container of the Pod as soon as it runs. The Pod's launcher answers while the kubelet is still starting the containers beside it.
 * @throws PodFailed when the container has ended, PodNotReady when it does not start in time
 */
export const awaitContainer = async (
  ports: Pick<NodePorts, 'pods' | 'processes'>,
  pod: Pod,
  name: string,
  { read, cancelled, times = TIMES }: AwaitOptions,
): Promise<Container> => {
  const until = Date.now() + times.waitMs;
  let known = pod;
  for (let readAt = Date.now() + times.readMs; ;) {
    const container = await openContainer(ports, known, name);
    if (container !== undefined) return container;
    refuseEnded(known, name);
    const now = Date.now();
    if (now >= until) throw notStarted(known, name, times.waitMs);
    if (now >= readAt) {
      known = await read();
      readAt = Date.now() + times.readMs;
    }
    await delay(times.pollMs, undefined, { signal: cancelled });
  }
};

const refuseEnded = (pod: Pod, name: string): void => {
  if (pod.spec?.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always')) return;
  const ended = containerStatus(pod, name)?.state?.terminated;
  if (ended) throw failure('PodFailed', `${named(pod, name)} has ended: ${ended.message ?? ended.reason ?? ''}`);
};

const notStarted = (pod: Pod, name: string, waitMs: number): Error => {
  const { waiting, running } = containerStatus(pod, name)?.state ?? {};
  const why =
    running === undefined
      ? [waiting?.reason, waiting?.message].filter((text) => text !== undefined && text !== '').join(': ') ||
        'its node has not said why'
      : "it runs, but none of its processes is seen: does the node worker run in the host's PID namespace?";
  return failure('PodNotReady', `${named(pod, name)} does not run after ${waitMs / 1000} s: ${why}`);
};

const named = ({ metadata }: Pod, name: string): string =>
  `container ${name} of Pod ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
