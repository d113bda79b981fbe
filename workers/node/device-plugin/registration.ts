import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Device } from './devices.ts';
import type { DevicePlugin } from './plugin.ts';
import { KUBELET_SOCKET, offerDevice } from './plugin.ts';

export interface Registration {
  /** Whether the kubelet listens to every device, and if not, why. */
  state(): { ok: boolean; detail: string };
  done: Promise<void>;
}

export interface RegistrationOptions {
  directory: string;
  devices: () => Promise<Device[]>;
  log: Pick<Logger, 'info' | 'warn'>;
  signal: AbortSignal;
  /** How often sockets are looked at when the directory says nothing. */
  checkMs?: number;
  /** Waits after failures; the last one is repeated. */
  backOffMs?: readonly number[];
}

/**
 * Keeps this node's devices registered. A kubelet that starts removes every plugin's socket and makes its own anew: then everything is offered again.
 */
export const keepRegistered = ({
  directory,
  devices,
  log,
  signal,
  checkMs = 10_000,
  backOffMs = [1_000, 2_000, 5_000, 10_000],
}: RegistrationOptions): Registration => {
  let offered: DevicePlugin[] = [];
  let problem = 'not registered yet';

  const stop = (): void => {
    for (const plugin of offered) plugin.stop();
    offered = [];
  };

  /** Resolves when the kubelet has restarted, or a socket of ours is gone. */
  const untilChanged = async (kubelet: number): Promise<void> => {
    while (!signal.aborted) {
      await changeIn(directory, checkMs, signal);
      const sockets = [...offered.map(({ endpoint }) => endpoint), KUBELET_SOCKET];
      const inodes = await Promise.all(sockets.map((name) => inode(join(directory, name))));
      if (inodes.includes(undefined) || inodes.at(-1) !== kubelet) return;
    }
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      try {
        const kubelet = await inode(join(directory, KUBELET_SOCKET));
        if (kubelet === undefined) throw new Error(`${directory} has no ${KUBELET_SOCKET}: the kubelet does not run`);
        for (const device of await devices()) offered.push(await offerDevice(directory, device));
        problem = '';
        failures = 0;
        log.info({ devices: offered.map(({ device }) => device.resource) }, 'registered with the kubelet');
        await untilChanged(kubelet);
        problem = 'the kubelet restarts';
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        log.warn({ err: error }, 'devices are not registered with the kubelet; trying again');
        const wait = backOffMs[Math.min(failures++, backOffMs.length - 1)];
        await delay(wait, undefined, { signal }).catch(() => undefined);
      }
      stop();
    }
  };

  return {
    state() {
      const unwatched = offered.filter((plugin) => !plugin.isWatched()).map(({ device }) => device.resource);
      if (problem !== '') return { ok: false, detail: problem };
      if (unwatched.length > 0) return { ok: false, detail: `the kubelet does not listen to ${unwatched.join(', ')}` };
      return { ok: true, detail: offered.map(({ device }) => device.resource).join(', ') || 'no devices' };
    },
    done: run(),
  };
};

const inode = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  );

/** Resolves at the next change of the directory, at the latest after `ms`. */
const changeIn = async (directory: string, ms: number, signal: AbortSignal): Promise<void> => {
  const over = new AbortController();
  const until = AbortSignal.any([over.signal, signal]);
  try {
    const watcher = watch(directory, { signal: until, persistent: false });
    const changed = new Promise<void>((resolve) => watcher.on('change', () => resolve()).on('error', () => resolve()));
    await Promise.race([changed, delay(ms, undefined, { signal: until }).catch(() => undefined)]);
  } finally {
    over.abort();
  }
};
