import type { Socket } from 'node:net';
import type { MigrationView } from '../../../api/launcher/migration.ts';
import { ApplicationFailure } from '@temporalio/common';
import { failure } from '../../failures.ts';
import { encodeFrame, readFrame } from './frames.ts';
import type { HandOverReply, HandOverRequest } from './messages.ts';
import { handOverReply, MAX_MESSAGE_BYTES } from './messages.ts';
import type { PeerLink } from './port.ts';
import { peerTrouble } from './words.ts';

export interface LinkOptions {
  /** @throws PeerUnreachable */
  dial: () => Promise<Socket>;
  /** For messages. */
  node: string;
  /** Of one request; longer than the other side waits for its launcher, so that it is named who is silent. */
  deadlineMs?: number;
  /** Between two signs of life. */
  pingMs?: number;
  /** Told, again and again, of a peer that has answered nothing for so long. */
  silent?: { afterMs?: number; tell: () => void };
}

/** Together with a ping's interval less than the 30 s within which a frozen peer is to be noticed. */
const SILENT_AFTER_MS = 20_000;

/**
 * The source's end of the hand-over. Connected soon and kept so; a connection that is lost or does not answer in time is given up, and the next request
 * makes another. One request at a time.
 */
export const peerLink = ({ dial, node, deadlineMs = 8_000, pingMs = 5_000, silent }: LinkOptions): PeerLink => {
  let heardAt = Date.now();
  let pinging = false;
  let connection: Socket | undefined;
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();

  const drop = (socket: Socket): void => {
    socket.destroy();
    if (connection === socket) connection = undefined;
  };

  const connect = async (): Promise<Socket> => {
    if (connection !== undefined && !connection.destroyed) return connection;
    const socket = await dial();
    for (const over of ['end', 'error', 'close']) socket.on(over, () => drop(socket));
    if (closed) drop(socket);
    else connection = socket;
    return socket;
  };

  const exchange = async (request: HandOverRequest): Promise<HandOverReply> => {
    const socket = await connect();
    try {
      socket.write(encodeFrame(request));
      const reply = await readFrame(socket, { maxBytes: MAX_MESSAGE_BYTES, timeoutMs: deadlineMs });
      heardAt = Date.now();
      return handOverReply.parse(reply);
    } catch (error) {
      drop(socket);
      throw failure('PeerUnreachable', `the worker of node ${node}: ${request.method}: ${peerTrouble(error)}`, error);
    }
  };

  const ask = (request: HandOverRequest): Promise<HandOverReply> => {
    const answer = last.then(() => exchange(request));
    last = answer.catch(() => undefined);
    return answer;
  };

  const view = async (method: 'inspect' | 'resume'): Promise<MigrationView> => {
    const reply = await ask({ method });
    if (reply.view !== undefined) return reply.view;
    const { type, message } = reply.failure ?? { type: 'Unknown', message: 'an empty answer' };
    const told = `the worker of node ${node}: ${message}`;
    throw type === 'Unknown' ? ApplicationFailure.create({ type, message: told }) : failure(type, told);
  };

  // Shows early that the other side is gone, so that the hand-over finds a connection that works.
  const ping = async (): Promise<void> => {
    if (pinging) return;
    pinging = true;
    await ask({ method: 'ping' }).catch(() => undefined);
    pinging = false;
  };
  const pings = setInterval(() => {
    void ping();
    if (silent && Date.now() - heardAt > (silent.afterMs ?? SILENT_AFTER_MS)) silent.tell();
  }, pingMs).unref();

  return {
    inspect: () => view('inspect'),
    resume: () => view('resume'),
    close() {
      closed = true;
      clearInterval(pings);
      connection?.destroy();
    },
  };
};
