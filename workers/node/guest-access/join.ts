import type { Socket } from 'node:net';

export interface JoinOptions {
  client: Socket;
  guest: Socket;
  /** Each direction may end by itself; else the end of either is the end of both. */
  halfOpen: boolean;
  /** Cut off a client that takes nothing for so long while the guest has something to say: it would stand still with it. In ms. */
  stallMs?: number;
  /** Both are closed. */
  done: () => void;
}

export interface Joined {
  /** Ends it: what the guest said until now still goes out. */
  close: () => void;
}

/** How long a client may take to read the rest, and to end its side. */
const LINGER_MS = 60_000;

/** Joins a client with a socket of the guest, byte for byte. Each holds at most a buffer's worth for a slow reader; beyond that the sender waits. */
export const join = ({ client, guest, halfOpen, stallMs, done }: JoinOptions): Joined => {
  let closing = false;
  const close = (): void => {
    if (closing) return;
    closing = true;
    guest.destroy();
    // Its own end is only seen by reading on.
    client.end();
    client.resume();
    setTimeout(() => client.destroy(), LINGER_MS).unref();
  };
  let open = 2;
  const over = (): void => {
    if (--open === 0) done();
  };
  client.on('error', () => client.destroy());
  guest.on('error', () => guest.destroy());
  client.on('close', () => {
    over();
    guest.destroy();
  });
  guest.on('close', () => {
    over();
    close();
  });
  if (!halfOpen) {
    client.on('end', close);
    guest.on('end', close);
  }
  guest.pipe(client, { end: halfOpen });
  client.pipe(guest, { end: halfOpen });
  if (stallMs !== undefined) watchForStall(client, stallMs);
  return { close };
};

/** A look at half the time: cut off after at least the time and at most one and a half of it. */
const watchForStall = (client: Socket, stallMs: number): void => {
  let waiting = 0;
  let since = Date.now();
  const timer = setInterval(() => {
    const now = client.writableNeedDrain ? client.writableLength : 0;
    if (now === 0 || now !== waiting) {
      waiting = now;
      since = Date.now();
    } else if (Date.now() - since >= stallMs) client.destroy();
  }, stallMs / 2);
  timer.unref();
  client.once('close', () => clearInterval(timer));
};
