import type { Socket } from 'node:net';
import type { Directions } from './window.ts';

/**
 * Joins two sockets, byte for byte, with back-pressure: at most a buffer's worth is held for a slow reader. Each direction ends by itself; an error, or
 * an end in the middle of things, ends both. `done` is called once, when both are closed.
 * @param between what bytes go through on their way; absent: nothing
 */
export const relay = (near: Socket, far: Socket, done: () => void, between?: Directions): void => {
  let open = 2;
  const watch = (one: Socket, other: Socket): void => {
    one.on('error', () => other.destroy());
    one.on('close', () => {
      if (!one.readableEnded || !one.writableFinished) other.destroy();
      if (--open === 0) done();
    });
  };
  watch(near, far);
  watch(far, near);
  (between === undefined ? near : near.pipe(between.out)).pipe(far);
  (between === undefined ? far : far.pipe(between.in)).pipe(near);
};
