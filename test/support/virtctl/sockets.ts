import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { WebSocket } from 'ws';

/** The stream is open. Otherwise the error says with which status it was refused. */
export const opened = async (socket: WebSocket): Promise<WebSocket> => {
  await once(socket, 'open');
  return socket;
};

/** The answer with which a stream was refused. @throws when it was opened */
export const refusal = async (socket: WebSocket): Promise<{ status: number; json: { message?: string } }> => {
  const opening = once(socket, 'open').then(() => {
    socket.terminate();
    throw new Error('the stream was opened');
  });
  const answering = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>;
  const [, response] = await Promise.race([answering, opening]);
  const body = await buffer(response);
  return { status: response.statusCode ?? 0, json: JSON.parse(body.toString()) as { message?: string } };
};

/** How the stream ended, once it has. */
export const ended = async (socket: WebSocket): Promise<{ code: number; reason: string }> => {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: reason.toString() };
};

/** Everything that has come so far. */
export const collected = (socket: WebSocket): { bytes: () => Buffer } => {
  const chunks: Buffer[] = [];
  socket.on('message', (data: Buffer) => chunks.push(data));
  return { bytes: () => Buffer.concat(chunks) };
};
