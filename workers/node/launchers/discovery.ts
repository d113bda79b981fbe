import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { launcherPods } from '../../../activities/node/launcher-client/sockets.ts';

export interface Discovery {
  /** Looks again now. */
  lookNow: () => void;
  /** Pods that are being followed. */
  following(): number;
  /** Resolves after the signal. */
  done: Promise<void>;
}

export interface DiscoveryOptions {
  pods: string;
  /** Follows a launcher until its Pod has ended or the signal. */
  follow: (podUid: string, signal: AbortSignal) => Promise<void>;
  /** Called with every look, after new launchers have been taken up. */
  looked?: () => void;
  log: Pick<Logger, 'warn'>;
  signal: AbortSignal;
  /** Between two looks when nothing calls for one. */
  rescanMs?: number;
}

/** A new Pod's directory is there before its volumes are: look again that much later. */
const AFTER_CHANGE_MS = [50, 200, 1_000];

/**
 * Finds launcher Pods by the kubelet's directory, which needs neither API server nor Temporal, and follows each until it ends. A change of the
 * directory, a command to a launcher (`lookNow`) and a slow timer make it look.
 */
export const discoverLaunchers = ({
  pods,
  follow,
  looked = () => {},
  log,
  signal,
  rescanMs = 10_000,
}: DiscoveryOptions): Discovery => {
  const followed = new Map<string, Promise<void>>();
  /** Followed to the end; kept while the kubelet keeps their directories. */
  const ended = new Set<string>();
  let wake = (): void => {};

  const look = async (): Promise<void> => {
    const present = await launcherPods(pods);
    for (const uid of ended) if (!present.includes(uid)) ended.delete(uid);
    for (const uid of present) {
      if (followed.has(uid) || ended.has(uid)) continue;
      const following = follow(uid, signal)
        .then(
          () => void ended.add(uid),
          (error: unknown) =>
            log.warn({ err: error, podUid: uid }, 'following a launcher broke off; taking it up again'),
        )
        .finally(() => followed.delete(uid));
      followed.set(uid, following);
    }
    looked();
  };

  const run = async (): Promise<void> => {
    const watcher = watch(pods, { persistent: false });
    watcher.on('change', () => {
      wake();
      for (const ms of AFTER_CHANGE_MS) setTimeout(() => wake(), ms).unref();
    });
    watcher.on('error', (error) =>
      log.warn({ err: error }, 'the kubelet directory cannot be watched; looking by timer'),
    );
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      try {
        await look();
      } catch (error) {
        log.warn({ err: error, pods }, 'the kubelet directory cannot be read; trying again');
      }
      await Promise.race([woken, delay(rescanMs, undefined, { signal }).catch(() => undefined)]);
    }
    watcher.close();
    await Promise.all(followed.values());
  };

  return { lookNow: () => wake(), following: () => followed.size, done: run() };
};
