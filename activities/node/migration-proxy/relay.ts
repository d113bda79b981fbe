import type { Socket } from 'node:net';
import type { Directions } from './window.ts';

export interface RelayOptions {
  /** What bytes go through on their way; absent: nothing. */
  between?: Directions | undefined;
  /** How long after its end or break on the far side the near one is told of it; absent: at once. Milliseconds. */
  lingerMs?: number | undefined;
}

/**
 * Joins two sockets, byte for byte, with back-pressure: at most a buffer's worth is held for a slow reader. Each direction ends by itself; an error, or
 * an end in the middle of things, ends both. `done` is called once, when both are closed.
 */
export const relay = (
  near: Socket,
  far: Socket,
  done: () => void,
  { between, lingerMs = 0 }: RelayOptions = {},
): void => {
  let open = 2;
  const linger = (act: () => void): void => void (lingerMs > 0 ? setTimeout(act, lingerMs) : act());
  const watch = (one: Socket, breakOther: () => void): void => {
    one.on('error', breakOther);
    one.on('close', () => {
      if (!one.readableEnded || !one.writableFinished) breakOther();
      if (--open === 0) done();
    });
  };
  watch(near, () => far.destroy());
  watch(far, () => linger(() => near.destroy()));
  (between === undefined ? near : near.pipe(between.out)).pipe(far);
  const incoming = between === undefined ? far : far.pipe(between.in);
  incoming.pipe(near, { end: lingerMs === 0 });
  if (lingerMs > 0) incoming.once('end', () => linger(() => near.end()));
};
