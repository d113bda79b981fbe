import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { failure } from '../../failures.ts';
import type { NodePorts } from '../ports.ts';
import type { Container } from './container.ts';
import { containerStatus, openContainer } from './container.ts';
import type { PodNetworkNamespace } from './network-namespace.ts';
import { openNetwork } from './network-namespace.ts';

export interface AwaitOptions {
  /** Live read of the Pod. @throws PodFailed when it has ended */
  read: () => Promise<Pod>;
  cancelled: AbortSignal;
  /** Longest wait, and time between two looks at the node and at the API server. */
  times?: { waitMs: number; pollMs: number; readMs: number };
}

const TIMES = { waitMs: 60_000, pollMs: 40, readMs: 2_000 };

/**
 * Opens a container of the Pod as soon as it runs. The Pod's launcher answers while the kubelet is still starting the containers beside it.
 * @throws PodFailed when the container has ended, PodNotReady when it does not start in time
 */
export const awaitContainer = (
  ports: Pick<NodePorts, 'pods' | 'processes'>,
  pod: Pod,
  name: string,
  options: AwaitOptions,
): Promise<Container> =>
  awaitInPod(pod, options, {
    look: (known) => openContainer(ports, known, name),
    refuse: (known) => refuseEnded(known, name),
    why: (known) => `${named(known, name)} does not run: ${whyNotRunning(known, name)}`,
  });

/**
 * Opens the Pod's network as soon as its sandbox is there: before any of its containers is.
 * @throws PodNotReady when it is not there in time
 */
export const awaitNetwork = (
  { processes }: Pick<NodePorts, 'processes'>,
  pod: Pod,
  options: AwaitOptions,
): Promise<PodNetworkNamespace> =>
  awaitInPod(pod, options, {
    look: ({ metadata }) => openNetwork(processes, metadata?.uid ?? ''),
    refuse: () => undefined,
    why: ({ metadata }) =>
      `Pod ${metadata?.namespace ?? ''}/${metadata?.name ?? ''} has no sandbox on its node: look at the Pod's events`,
  });

interface Awaited<Seen> {
  look: (known: Pod) => Promise<Seen | undefined>;
  /** Throws when it will not come any more. */
  refuse: (known: Pod) => void;
  /** It is not there. */
  why: (known: Pod) => string;
}

const awaitInPod = async <Seen>(
  pod: Pod,
  { read, cancelled, times = TIMES }: AwaitOptions,
  { look, refuse, why }: Awaited<Seen>,
): Promise<Seen> => {
  const until = Date.now() + times.waitMs;
  let known = pod;
  for (let readAt = Date.now() + times.readMs; ;) {
    const seen = await look(known);
    if (seen !== undefined) return seen;
    refuse(known);
    const now = Date.now();
    if (now >= until) throw failure('PodNotReady', `after ${times.waitMs / 1000} s ${why(known)}`);
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

const whyNotRunning = (pod: Pod, name: string): string => {
  const { waiting, running } = containerStatus(pod, name)?.state ?? {};
  return running === undefined
    ? [waiting?.reason, waiting?.message].filter((text) => text !== undefined && text !== '').join(': ') ||
        'its node has not said why'
    : "it runs, but none of its processes is seen: does the node worker run in the host's PID namespace?";
};

const named = ({ metadata }: Pod, name: string): string =>
  `container ${name} of Pod ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
