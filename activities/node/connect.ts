import { setTimeout as delay } from 'node:timers/promises';
import { failure } from '../failures.ts';
import type { Launcher } from './launcher-client/client.ts';
import { isUnreachable } from './launcher-client/errors.ts';
import type { NodePorts } from './ports.ts';
import type { OnPod } from './verify.ts';

/** A look costs little: whether there is a socket. */
const RETRY_MS = 10;

export interface ConnectOptions {
  /** Until when to wait for a launcher that is still starting, in milliseconds since 1970; asked again and again. Absent: not at all. */
  until?: () => number;
  cancelled?: AbortSignal;
}

/**
 * Connects to the Pod's launcher, whose identity the handshake tells. The caller closes it.
 * @throws LauncherUnreachable, StaleToken (it is another VMI's launcher)
 */
export const openLauncher = async (
  { launchers }: Pick<NodePorts, 'launchers'>,
  { vmi, pod }: OnPod,
  { until = () => 0, cancelled }: ConnectOptions = {},
): Promise<Launcher> => {
  const launcher = await connect(launchers, pod.uid, until, cancelled);
  if (launcher.handshake.vmiUid === vmi.uid) return launcher;
  launcher.close();
  throw failure(
    'StaleToken',
    `Pod ${pod.name} runs the launcher of VMI uid ${launcher.handshake.vmiUid}, not of ${vmi.uid}`,
  );
};

/** Runs a command on the Pod's launcher. @throws as `openLauncher` and the command */
export const withLauncher = async <T>(
  ports: Pick<NodePorts, 'launchers'>,
  pod: OnPod,
  command: (launcher: Launcher) => Promise<T>,
  options: ConnectOptions = {},
): Promise<T> => {
  const launcher = await openLauncher(ports, pod, options);
  try {
    return await command(launcher);
  } finally {
    launcher.close();
  }
};

/** Waits so long from now on. */
export const within = (waitMs: number): (() => number) => {
  const until = Date.now() + waitMs;
  return () => until;
};

const connect = async (
  launchers: NodePorts['launchers'],
  podUid: string,
  until: () => number,
  cancelled: AbortSignal | undefined,
): Promise<Launcher> => {
  for (;;) {
    try {
      return await launchers.connect(podUid, cancelled);
    } catch (error) {
      if (!isUnreachable(error) || Date.now() >= until()) throw error;
    }
    await delay(RETRY_MS, undefined, cancelled === undefined ? {} : { signal: cancelled });
  }
};
