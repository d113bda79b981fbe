import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/** What every HTTP/2 connection begins with (RFC 9113, 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const PREFACE_TIMEOUT_MS = 5_000;

export interface GateOptions {
  /** Takes a connection that speaks HTTP/2. */
  readonly accept: (socket: Socket) => void;
  /** A connection that does not was closed. */
  readonly refused: () => void;
}

/** A server for a unix socket that lets in what begins like HTTP/2 and closes everything else at its first bytes. */
export function createGate({ accept, refused }: GateOptions): Server {
  return createServer((socket) => {
    const refuse = (): void => {
      socket.destroy();
      refused();
    };
    const timer = setTimeout(refuse, PREFACE_TIMEOUT_MS);
    const leave = (): void => clearTimeout(timer);
    socket.on('error', leave);
    socket.once('close', leave);
    const look = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null) return;
      socket.unshift(bytes);
      const length = Math.min(bytes.length, PREFACE.length);
      const fits = bytes.subarray(0, length).equals(PREFACE.subarray(0, length));
      if (fits && length < PREFACE.length) return; // more must come
      leave();
      socket.off('readable', look);
      if (!fits) return refuse();
      accept(socket);
    };
    socket.on('readable', look);
  });
}
