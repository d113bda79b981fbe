import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { failure } from '../../../../../activities/failures.ts';
import { encodeFrame, readFrame } from '../../../../../activities/node/migration-proxy/frames.ts';
import type { LinkOptions } from '../../../../../activities/node/migration-proxy/link.ts';
import type { PeerLink } from '../../../../../activities/node/migration-proxy/port.ts';
import { peerLink } from '../../../../../activities/node/migration-proxy/link.ts';
import { until } from '../../../../support/until.ts';

let server: Server;
let accepted: Socket[];
let requests: unknown[];
/** What the other side does with a request. */
let answer: (socket: Socket) => void;
let dials: number;
let links: PeerLink[];

const view = {
  migrationUid: 'm',
  role: 'target' as const,
  domain: 'active' as const,
  job: false,
  postCopy: false,
  resumed: true,
  finalized: false,
};

beforeEach(async () => {
  [accepted, requests, dials, links] = [[], [], 0, []];
  answer = (socket) => void socket.write(encodeFrame({ view }));
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    void (async () => {
      for (;;) {
        requests.push(await readFrame(socket, { maxBytes: 1024, timeoutMs: 10_000 }));
        answer(socket);
      }
    })().catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const link of links) link.close();
  for (const socket of accepted) socket.destroy();
  server.close();
});

/** Of a request that is not answered. An answer that comes has longer than anything takes on a busy machine. */
const SHORT_MS = 1_000;

const link = ({ deadlineMs = 5_000, ...options }: Partial<LinkOptions> = {}): PeerLink => {
  const dial = (): Promise<Socket> => {
    dials++;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    return Promise.resolve(socket);
  };
  const one = peerLink({ dial, node: 'node-b', deadlineMs, pingMs: 10_000, ...options });
  links.push(one);
  return one;
};

test('one connection serves all requests, in order', async () => {
  const peer = link();
  expect(await Promise.all([peer.inspect(), peer.resume()])).toEqual([view, view]);
  expect(requests).toEqual([{ method: 'inspect' }, { method: 'resume' }]);
  expect(dials).toBe(1);
});

test('an answer that does not come is given up in time, and the next request has a new connection', async () => {
  const peer = link({ deadlineMs: SHORT_MS });
  answer = () => undefined;
  await expect(peer.resume()).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(/node-b: resume: .*1000 ms/),
  });
  answer = (socket) => void socket.write(encodeFrame({ view }));
  expect(await peer.resume()).toEqual(view);
  expect(dials).toBe(2);
});

test('a late answer is never taken for that of another request', async () => {
  const peer = link({ deadlineMs: SHORT_MS });
  const other = encodeFrame({ view: { ...view, resumed: false } });
  answer = (socket) => void setTimeout(() => socket.write(other), SHORT_MS + 100);
  await expect(peer.inspect()).rejects.toMatchObject({ type: 'PeerUnreachable' });
  answer = (socket) => void socket.write(encodeFrame({ view }));
  expect(await peer.resume()).toMatchObject({ resumed: true });
});

test('a connection that broke is noticed by itself', async () => {
  const peer = link();
  await peer.inspect();
  accepted[0]?.destroy();
  await until('the link to notice', () => accepted[0]?.destroyed);
  // Broken before or while it is asked: at the latest the second request has a new connection.
  const first = await peer.resume().catch(() => undefined);
  expect(first ?? (await peer.resume())).toEqual(view);
  expect(dials).toBe(2);
});

test('a failure of the other side is its failure here', async () => {
  answer = (socket) => void socket.write(encodeFrame({ failure: { type: 'LauncherUnreachable', message: 'silent' } }));
  await expect(link().resume()).rejects.toMatchObject({
    type: 'LauncherUnreachable',
    message: 'the worker of node node-b: silent',
    nonRetryable: false,
  });
});

test('garbage is not an answer', async () => {
  answer = (socket) => void socket.write('GET / HTTP/1.1\r\n\r\n');
  await expect(link().resume()).rejects.toMatchObject({ type: 'PeerUnreachable' });
});

test('signs of life go over the connection that is there', async () => {
  const peer = link({ pingMs: 20 });
  answer = (socket) => void socket.write(encodeFrame(requests.length === 1 ? { view } : {}));
  await peer.inspect();
  await until('a ping', () => requests.length > 2);
  expect(requests[1]).toEqual({ method: 'ping' });
  expect(dials).toBe(1);
  peer.close();
});

test('who cannot be reached is said by whoever dials', async () => {
  const dial = (): Promise<Socket> => Promise.reject(failure('PeerUnreachable', 'nobody listens'));
  const peer = peerLink({ dial, node: 'node-b' });
  links.push(peer);
  await expect(peer.resume()).rejects.toMatchObject({ type: 'PeerUnreachable', message: 'nobody listens' });
});

test('of a peer that answers nothing for too long it is told, and no longer once it answers', async () => {
  let told = 0;
  const peer = link({ deadlineMs: SHORT_MS, pingMs: 50, silent: { afterMs: 1_500, tell: () => void told++ } });
  await peer.inspect();
  await until('some pings', () => requests.length > 4);
  expect(told).toBe(0);
  answer = () => undefined;
  await until('it is told, and again', () => told > 1);
  answer = (socket) => void socket.write(encodeFrame({ view }));
  expect(await peer.resume()).toEqual(view);
  const before = told;
  const pings = requests.length;
  await until('some more pings', () => requests.length > pings + 4);
  expect(told).toBe(before);
});

test('signs of life do not queue up before a request', async () => {
  answer = () => undefined;
  const peer = link({ deadlineMs: SHORT_MS, pingMs: 20 });
  // Time for dozens while the first one is waited for.
  await until('the first ping to be given up', () => dials === 2);
  const resumed = peer.resume();
  answer = (socket) => void socket.write(encodeFrame({ view }));
  expect(await resumed).toEqual(view);
  expect(requests.findIndex((request) => (request as { method: string }).method === 'resume')).toBeLessThan(5);
});
