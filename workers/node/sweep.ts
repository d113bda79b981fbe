import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { evictImages, releaseImages } from '../../activities/node/container-disks/index.ts';
import { isDirectory } from '../../activities/node/files/is-directory.ts';
import { podVolume } from '../../activities/node/launcher-client/sockets.ts';
import type { MountPoint } from '../../activities/node/container-disks/mounts.ts';
import type { RunningProxy } from '../../activities/node/migration-proxy/index.ts';
import type { NodePorts } from '../../activities/node/index.ts';

type Ports = Pick<NodePorts, 'pods' | 'mounts' | 'images' | 'processes'> & { proxy: Pick<RunningProxy, 'sweep'> };

/** Least and longest time between two sweeps. */
const SOON_MS = 1_000;
const INTERVAL_MS = 60_000;

/**
 * Takes away what nobody else will: mounts in Pods that have ended (the kubelet cannot remove their directories under them) and images that no Pod
 * uses, and ways of migrations whose Pod is gone. A Pod that still has a process is left alone.
 */
export const sweep = async (ports: Ports, log: Pick<Logger, 'info'>): Promise<void> => {
  // Mounts first: what is mounted before no process is left is of a Pod that has ended, not of one that starts just now.
  for (const podUid of podsOf(await ports.mounts.below(ports.pods), ports.pods)) {
    if ((await ports.processes.ofPod(podUid)).length > 0) continue;
    await releaseImages(ports, podUid);
    log.info({ podUid }, 'images of a Pod that has ended are unmounted');
  }
  const ended = await ports.proxy.sweep((podUid) => isGone(ports, podUid));
  if (ended.length > 0) log.info({ migrations: ended }, 'ways of migrations whose Pods are gone are closed');
  const evicted = await evictImages(ports);
  if (evicted.length > 0) log.info({ evicted }, 'images evicted');
};

/** The kubelet makes a Pod's directories before its first process, and removes them after its last. */
const isGone = async ({ pods, processes }: Ports, podUid: string): Promise<boolean> =>
  !(await isDirectory(podVolume(pods, podUid, 'sockets'))) && (await processes.ofPod(podUid)).length === 0;

/** Pods in which images are mounted. */
const podsOf = (points: readonly MountPoint[], pods: string): Set<string> =>
  new Set(
    points
      .map(({ target }) => ({ target, podUid: target.slice(pods.length + 1).split('/')[0] ?? '' }))
      .filter(({ target, podUid }) => target.startsWith(`${podVolume(pods, podUid, 'containerDisks')}/`))
      .map(({ podUid }) => podUid),
  );

/** Sweeps from time to time until the signal, and soon after `soon` is called. */
export const keepSwept = (
  ports: Ports,
  log: Pick<Logger, 'info' | 'warn'>,
  signal: AbortSignal,
): { soon: () => void; done: Promise<void> } => {
  let wake = (): void => {};
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      await sweep(ports, log).catch((error: unknown) => log.warn({ err: error }, 'the sweep broke off'));
      await Promise.race([woken, pause(INTERVAL_MS, signal)]);
      await pause(SOON_MS, signal);
    }
  };
  return { soon: () => wake(), done: run() };
};

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined);
};
