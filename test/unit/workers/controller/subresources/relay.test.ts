import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { asksForWebSocket, createRelay } from '../../../../../workers/controller/subresources/relay.ts';
import { until } from '../../../../support/until.ts';
import { collected, ended, opened } from '../../../../support/virtctl/sockets.ts';

let server: Server;
let stop: AbortController;
/** The guest's end of the next stream: what is written to it comes back. */
let guest: Duplex;
let asked: IncomingMessage | undefined;
const clients: WebSocket[] = [];

beforeEach(async () => {
  stop = new AbortController();
  guest = new PassThrough();
  const relay = createRelay(stop.signal);
  server = createServer().listen(0, '127.0.0.1');
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    asked = request;
    relay.join(request, socket, head, guest);
  });
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  server.closeAllConnections();
  server.close();
});

const portOf = (): number => (server.address() as AddressInfo).port;
const client = (protocols: string[] = ['plain.kubevirt.io']): WebSocket => {
  const socket = new WebSocket(`ws://127.0.0.1:${portOf()}`, protocols, { perMessageDeflate: false });
  clients.push(socket);
  return socket;
};

test.each([
  [['plain.kubevirt.io'], 'plain.kubevirt.io'],
  [['other', 'binary'], 'binary'],
  [[], ''],
])('of the protocols %j the one that we speak is chosen', async (offered, chosen) => {
  expect((await opened(client(offered))).protocol).toBe(chosen);
});

test('text is bytes too', async () => {
  const socket = await opened(client());
  const seen = collected(socket);
  socket.send('grüß dich');
  await until('it is back', () => seen.bytes().toString() === 'grüß dich');
});

test('when the process stops, clients are told to come again', async () => {
  const socket = await opened(client());
  stop.abort();
  expect((await ended(socket)).code).toBe(1001);
  await until('the guest’s stream is closed', () => guest.destroyed);
});

test('a client that does not listen is not waited for', async () => {
  const socket = await opened(client());
  socket.pause();
  stop.abort();
  await until('the guest’s stream is closed', () => guest.destroyed, { timeoutMs: 8_000 });
});

test('one message as large as a file is refused', async () => {
  const socket = await opened(client());
  socket.send(Buffer.alloc(5 * 1024 * 1024));
  expect((await ended(socket)).code).toBe(1009);
  await until('the guest’s stream is closed', () => guest.destroyed);
});

test('a client that is cut off frees the guest', async () => {
  (await opened(client())).terminate();
  await until('the guest’s stream is closed', () => guest.destroyed);
});

test('a client that only ever half closes its connection frees the guest too', async () => {
  const socket = connect({ port: portOf(), host: '127.0.0.1', allowHalfOpen: true });
  const key = Buffer.alloc(16).toString('base64');
  const handshake = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(`GET / HTTP/1.1\r\n${handshake.join('\r\n')}\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
  await once(socket, 'data');
  socket.end();
  await until('the guest’s stream is closed', () => guest.destroyed);
  socket.destroy();
});

test('a long reason is shortened between characters', async () => {
  const socket = await opened(client());
  guest.destroy(new Error('ü'.repeat(100)));
  expect(await ended(socket)).toEqual({ code: 1011, reason: 'ü'.repeat(60) });
});

test('a handshake that cannot succeed is known before the guest is reached, and closes its stream in any case', async () => {
  const socket = connect(portOf(), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  expect(asked && asksForWebSocket(asked)).toBe(false);
  await until('the guest’s stream is closed', () => guest.destroyed);
  await opened(client());
  expect(asked && asksForWebSocket(asked)).toBe(true);
});
