import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { CONTROLLER_URI } from '../../../api/contract/certificates.ts';
import type { GuestCall } from '../../../api/contract/guest-access.ts';
import { startGuestAccess, ended, NODE } from '../../support/guest-access.ts';
import type { TestGuestAccess, TestGuestAccessOptions } from '../../support/guest-access.ts';
import type { LauncherServer } from '../../support/launcher-server.ts';
import { startLauncher } from '../../support/launcher-server.ts';
import type { Authority } from '../../support/peers.ts';
import { authority, credentialsOf, noCredentials } from '../../support/peers.ts';
import { until } from '../../support/until.ts';

jest.setTimeout(60_000);

/** Controller and node worker over real TLS; launcher and guest are a test's own. */
const podUid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';
const vmi = { namespace: 'default', name: 'vm', uid: 'vmi-uid' };
const MIB = 1024 * 1024;

let files: string;
let ca: Authority;
let pods: string;
let launcher: LauncherServer;
const disposals: (() => unknown)[] = [];

beforeAll(async () => {
  files = await mkdtemp('/tmp/ga-');
  ca = authority(files, 'ca');
});
afterAll(() => rm(files, { recursive: true }));
beforeEach(async () => {
  pods = await mkdtemp('/tmp/');
  launcher = await startLauncher(pods, podUid);
});
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
  launcher.stop();
  await rm(pods, { recursive: true });
});

const start = async (options: Partial<TestGuestAccessOptions> = {}): Promise<TestGuestAccess> => {
  const access = await startGuestAccess({ ca, pods, vmi, podUid, ...options });
  disposals.push(access.stop);
  return access;
};

/** A program in the guest that listens on a port. */
const program = async (serve: (socket: Socket) => void): Promise<{ port: string; sockets: Set<Socket> }> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  disposals.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: String((server.address() as AddressInfo).port), sockets };
};
const echo = (socket: Socket): void => void socket.pipe(socket);

const refusal = (attempt: Promise<unknown>): Promise<{ status: number; message: string }> =>
  attempt.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: { status: number; message: string }) => ({ status: error.status, message: error.message }),
  );

test('a port of the guest is reached, each direction ends by itself, and many are at once', async () => {
  const { guests, guest, node } = await start();
  const { port } = await program((socket) => {
    void buffer(socket).then((all) => socket.end(`${all.length} bytes`));
  });
  const streams = await Promise.all(Array.from({ length: 60 }, () => guests.open(guest, 'portforward', { port })));
  expect(node.streams()).toEqual({ console: 0, vnc: 0, portforward: 60 });
  const answers = streams.map(async (stream, index) => {
    stream.end(Buffer.alloc(index * 1_000));
    return (await buffer(stream)).toString();
  });
  expect(await Promise.all(answers)).toEqual(streams.map((_, index) => `${index * 1_000} bytes`));
  await until('all are closed', () => node.streams().portforward === 0);
});

test('a client that reads slowly holds the guest back, and gets every byte', async () => {
  const { guests, guest } = await start();
  const size = 96 * MIB;
  let taken = 0;
  const { port } = await program((socket) => {
    const more = (): void => {
      while (taken < size) {
        taken += MIB;
        if (!socket.write(Buffer.alloc(MIB, taken / MIB))) return;
      }
      socket.end();
    };
    socket.on('drain', more);
    more();
  });
  const stream = await guests.open(guest, 'portforward', { port });
  let before = -1;
  await until(
    'the guest stands still',
    () => {
      const same = taken === before;
      before = taken;
      return same;
    },
    { everyMs: 300 },
  );
  expect(taken).toBeLessThan(40 * MIB);
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) length += chunk.length;
  expect(length).toBe(size);
});

test('a guest that takes slowly holds its client back', async () => {
  const { guests, guest } = await start();
  const { port, sockets } = await program((socket) => void socket.pause());
  const stream = await guests.open(guest, 'portforward', { port });
  let sent = 0;
  while (stream.write(Buffer.alloc(MIB)) || !(await drained(stream))) {
    sent += 1;
    expect(sent).toBeLessThan(64);
  }
  const [socket] = sockets;
  socket?.resume();
  await once(stream, 'drain');
  stream.destroy();
});

/** False: nothing more goes out for a while. */
const drained = async (stream: Duplex): Promise<boolean> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), 500);
  try {
    await once(stream, 'drain', { signal: late.signal });
    return false;
  } catch {
    return true;
  } finally {
    clearTimeout(timer);
  }
};

test('streams end in order when the guest moves away, and who comes then is told so', async () => {
  const { guests, guest, node } = await start();
  const { port, sockets } = await program(echo);
  const stream = await guests.open(guest, 'portforward', { port });
  stream.write('still here');
  expect(String((await once(stream, 'data'))[0])).toBe('still here');
  launcher.say({ state: 'paused', pausedBy: 'migration' });
  node.reported(launcher.current);
  expect(stream.closed).toBe(false);
  launcher.say({ state: 'shutoff', end: 'migrated' });
  node.reported({ ...launcher.current, podUid });
  expect(await ended(stream)).toBe(true);
  await until('the guest sees it too', () => sockets.size === 0);
  const moved = { status: 409, message: 'VMI default/vm: the guest has moved to another node' };
  expect(await refusal(guests.open(guest, 'portforward', { port }))).toEqual(moved);
  expect(await refusal(guests.call(guest, 'pause'))).toEqual(moved);
});

test('streams end when the Pod has ended, and when the node worker stops', async () => {
  const first = await start();
  const { port } = await program(echo);
  const one = await first.guests.open(first.guest, 'portforward', { port });
  first.node.podEnded(podUid);
  expect(await ended(one)).toBe(true);
  const two = await first.guests.open(first.guest, 'portforward', { port });
  await first.stop();
  expect(await ended(two)).toBe(true);
});

test('idle streams stay open, where a client that says nothing is sent away', async () => {
  const { guests, guest, port: listener } = await start({ patienceMs: 300 });
  const { port } = await program(echo);
  const stream = await guests.open(guest, 'portforward', { port });
  for (const round of [1, 2]) {
    const silent = connectTls({ port: listener, rejectUnauthorized: false });
    silent.on('error', () => undefined);
    silent.resume();
    await once(silent, 'close');
    expect([round, stream.closed]).toEqual([round, false]);
  }
  stream.write('hello');
  expect(String((await once(stream, 'data'))[0])).toBe('hello');
  stream.destroy();
});

test('only a controller is let in', async () => {
  const { as, guest } = await start();
  const stranger = authority(files, 'stranger');
  const node = await refusal(as(credentialsOf(ca.issue({ node: 'node-b' }))).call(guest, 'pause'));
  expect(node).toMatchObject({ status: 502, message: expect.stringContaining('only controllers are let in') });
  const foreign = { ...stranger.issue({ san: `URI:${CONTROLLER_URI}` }), ca: ca.certificate };
  for (const attempt of [
    () => as(credentialsOf(foreign)).call(guest, 'pause'),
    () => as(credentialsOf(foreign)).open(guest, 'console', {}),
    () =>
      as(
        credentialsOf(ca.issue({ san: `URI:${CONTROLLER_URI}`, from: '20200101000000Z', until: '20200201000000Z' })),
      ).call(guest, 'pause'),
    () => as(credentialsOf(stranger.issue({ san: `URI:${CONTROLLER_URI}` }))).call(guest, 'pause'),
  ]) {
    expect(await refusal(attempt())).toMatchObject({ status: 502, message: expect.stringContaining(NODE) });
  }
  expect(await refusal(as(noCredentials).call(guest, 'pause'))).toMatchObject({
    status: 503,
    message: expect.stringContaining('no certificate yet'),
  });
  expect(launcher.received).toEqual([]);
});

test('a new certificate of the node serves the next request', async () => {
  const { as, guest, nodeCredentials } = await start();
  const next = authority(files, 'next');
  const controller = as(credentialsOf({ ...next.issue({ san: `URI:${CONTROLLER_URI}` }) }));
  expect(await refusal(controller.call(guest, 'pause'))).toMatchObject({ status: 502 });
  nodeCredentials.change(next.issue({ node: NODE }));
  expect(await controller.call(guest, 'pause')).toEqual({ status: 200 });
});

test('a node that cannot be reached, or does not answer, is named', async () => {
  const { as, guest, guests, stop, port } = await start();
  const credentials = credentialsOf(ca.issue({ san: `URI:${CONTROLLER_URI}` }));
  await stop();
  expect(await refusal(guests.call(guest, 'pause'))).toMatchObject({
    status: 502,
    message: expect.stringMatching(/^the worker of node node-a at 127\.0\.0\.1:\d+: nobody listens there/),
  });
  const silent = createServer(() => undefined).listen(port, '127.0.0.1');
  await once(silent, 'listening');
  disposals.push(() => silent.close());
  expect(await refusal(as(credentials, 200).call(guest, 'pause'))).toMatchObject({
    status: 504,
    message: expect.stringContaining('node node-a'),
  });
});

test('what does not fit is refused with the code that users of the API know', async () => {
  const { guests, guest, pod } = await start({ maxPerGuest: 2 });
  const call = (name: GuestCall, over = {}, body?: unknown): Promise<{ status: number; message: string }> =>
    refusal(guests.call({ ...guest, ...over }, name, body));
  expect(await call('pause', { podUid: 'another' })).toMatchObject({ status: 409 });
  expect(await call('pause', { node: 'node-b' })).toMatchObject({ status: 409 });
  expect(await call('pause', { vmiUid: 'another' })).toMatchObject({ status: 409 });
  expect(await call('pause', { name: '../x' })).toMatchObject({ status: 400 });
  expect(await call('freeze', {}, { unfreezeTimeout: 'soon' })).toMatchObject({ status: 400 });
  expect(await call('freeze', {}, { unfreezeTimeout: 'x'.repeat(100_000) })).toMatchObject({ status: 413 });
  launcher.refuse('PauseVMI', status.FAILED_PRECONDITION, 'the guest is shutting down');
  expect(await call('pause')).toMatchObject({ status: 409, message: expect.stringContaining('shutting down') });
  launcher.refuse('ResetVMI', status.ABORTED, 'libvirt says no');
  expect(await call('reset')).toMatchObject({ status: 500, message: expect.stringContaining('libvirt says no') });

  const open = (params: Record<string, string>): Promise<Duplex> => guests.open(guest, 'portforward', params);
  const { port } = await program(echo);
  expect(await refusal(open({ port: '0' }))).toMatchObject({ status: 400 });
  expect(await refusal(open({ port, protocol: 'udp' }))).toMatchObject({ status: 501 });
  expect(await refusal(open({ port: '1' }))).toMatchObject({ status: 502, message: expect.stringContaining('port 1') });
  expect(await refusal(guests.open(guest, 'console', {}))).toMatchObject({ status: 409 });
  const streams = [await open({ port }), await open({ port })];
  expect(await refusal(open({ port }))).toMatchObject({ status: 429 });
  for (const stream of streams) stream.destroy();

  launcher.answer('Handshake', {
    ...{ protocol: 2, release: 'old', namespace: vmi.namespace, name: vmi.name },
    ...{ vmiUid: vmi.uid, podUid, launcherEpoch: 1 },
  });
  expect(await call('reset')).toMatchObject({ status: 501, message: expect.stringContaining('release old') });
  pod.status = { ...pod.status, phase: 'Succeeded' };
  expect(await call('pause')).toMatchObject({ status: 409 });
  pod.status = { ...pod.status, phase: 'Running' };
  launcher.stop();
  expect(await call('pause')).toMatchObject({ status: 503 });
});

test('a freeze carries its time to the launcher', async () => {
  const { guests, guest } = await start();
  launcher.answer('FreezeVMI', { json: '{}' });
  for (const body of [undefined, {}, { unfreezeTimeout: '1m30s' }, { unfreezeTimeout: '0s' }]) {
    expect(await guests.call(guest, 'freeze', body)).toEqual({ status: 200 });
  }
  const asked = launcher.received.filter(({ method }) => method === 'FreezeVMI');
  expect(asked.map(({ request }) => request['thawAfterSeconds'])).toEqual([0, 0, 90, -1]);
});
