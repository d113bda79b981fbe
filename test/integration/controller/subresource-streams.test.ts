import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { GuestAccessError } from '../../../workers/controller/guest-access/port.ts';
import type { AggregatedWorld } from '../../support/aggregated-world.ts';
import { NAMESPACE, RUNNING, startAggregatedWorld } from '../../support/aggregated-world.ts';
import { until } from '../../support/until.ts';
import { collected, ended, opened, refusal } from '../../support/virtctl/sockets.ts';
import type { Virtctl } from '../../support/virtctl/index.ts';

let world: AggregatedWorld;
let client: Virtctl;

beforeAll(async () => {
  world = await startAggregatedWorld();
  client = world.client();
});
afterAll(() => world.close());

let server: Server | undefined;
const sockets: Socket[] = [];

/** A guest's end of streams over a real socket. */
const listen = async (serve: (socket: Socket) => void): Promise<void> => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: at } = server.address() as AddressInfo;
  world.guests.open = async () => {
    const socket = connect({ port: at, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  };
};

afterEach(() => {
  server?.close();
  for (const socket of sockets.splice(0)) socket.destroy();
});

test('bytes go both ways, whatever they are, under the protocol that virtctl asks for', async () => {
  await listen((socket) => socket.pipe(socket));
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const socket = await opened(await client.console(name));
  expect(socket.protocol).toBe('plain.kubevirt.io');
  const seen = collected(socket);
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  socket.send(bytes);
  await until('the echo is here', () => seen.bytes().equals(bytes));
  const guestSide = sockets[0]!;
  socket.close(1000);
  await ended(socket);
  await until('the guest’s side is closed', () => guestSide.destroyed || guestSide.readableEnded);
});

test('a port is told to the guest, of a VM as of its instance', async () => {
  const seen: unknown[] = [];
  world.guests.open = (stream, params) => {
    seen.push([stream, params]);
    return Promise.reject(new GuestAccessError(502, 'nobody listens there'));
  };
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  expect(await refusal(await client.portForward(name, 22))).toMatchObject({
    ...{ status: 502, json: { message: 'nobody listens there' } },
  });
  await refusal(await client.portForward(name, 53, 'udp', 'virtualmachineinstances'));
  await refusal(await client.vnc(name, { preserveSession: 'true' }));
  expect(seen).toEqual([
    ['portforward', { port: '22', protocol: 'tcp' }],
    ['portforward', { port: '53', protocol: 'udp' }],
    ['vnc', { preserveSession: 'true' }],
  ]);
  const stopped = await world.given({ runStrategy: 'Halted' });
  expect((await refusal(await client.portForward(stopped, 22))).status).toBe(409);
});

test('what the guest said last is all heard, and then that it has ended', async () => {
  const last = Buffer.alloc(3_000_000, 'x');
  await listen((socket) => socket.end(last));
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const socket = await opened(await client.portForward(name, 80));
  const seen = collected(socket);
  expect(await ended(socket)).toEqual({ code: 1000, reason: '' });
  expect(seen.bytes().equals(last)).toBe(true);
});

test('what a client said before it left reaches the guest', async () => {
  const received: Buffer[] = [];
  await listen((socket) => socket.on('data', (chunk: Buffer) => received.push(chunk)));
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const socket = await opened(await client.portForward(name, 80));
  for (let index = 0; index < 40; index += 1) socket.send(Buffer.alloc(50_000, 'y'));
  socket.close(1000);
  await until('all is here', () => Buffer.concat(received).length === 2_000_000);
});

test('a guest that breaks off is told from one that ends', async () => {
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const guest = new PassThrough();
  world.guests.open = () => Promise.resolve(guest);
  const socket = await opened(await client.console(name));
  guest.destroy(new Error('the node is gone'));
  expect(await ended(socket)).toEqual({ code: 1011, reason: 'the node is gone' });
});

test('a client that does not read stops the guest, and a guest that does not read its client', async () => {
  const chunk = Buffer.alloc(65_536, 'z');
  let guestSide: Socket | undefined;
  let written = 0;
  await listen((socket) => {
    guestSide = socket;
    socket.pause();
    const pour = (): void => {
      while (written < 200_000_000 && socket.write(chunk)) written += chunk.length;
    };
    socket.on('drain', pour);
    pour();
  });
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const socket = await opened(await client.portForward(name, 80));
  socket.pause();
  const stalled = await settled(() => written);
  expect(stalled).toBeLessThan(64_000_000);
  let sent = 0;
  for (let index = 0; index < 1_000; index += 1) socket.send(chunk, () => (sent += chunk.length));
  expect(await settled(() => sent)).toBeLessThan(60_000_000);
  socket.resume();
  guestSide?.resume();
  await until('the guest goes on', () => written > stalled + 1_000_000);
  socket.terminate();
});

test('fifty at once do not mix', async () => {
  await listen((socket) => socket.pipe(socket));
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const echoes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const socket = await opened(await client.portForward(name, 80));
      const seen = collected(socket);
      const word = Buffer.from(`stream ${index}`);
      socket.send(word);
      await until(`${word.toString()} is back`, () => seen.bytes().equals(word));
      socket.close(1000);
      return (await ended(socket)).code;
    }),
  );
  expect(new Set(echoes)).toEqual(new Set([1000]));
});

test('a client that vanishes while its guest is reached leaves no stream behind', async () => {
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const guest = new PassThrough();
  const reached = Promise.withResolvers<Duplex>();
  const asking = Promise.withResolvers<void>();
  world.guests.open = () => {
    asking.resolve();
    return reached.promise;
  };
  const socket = await client.console(name);
  socket.on('error', () => undefined);
  await asking.promise;
  socket.terminate();
  reached.resolve(guest);
  await until('the stream is given up', () => guest.destroyed);
});

test('without WebSocket there is no stream, and a question is none', async () => {
  const name = await world.given({ runStrategy: 'Always' }, RUNNING);
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachineinstances/${name}/console`;
  expect((await client.send('GET', path)).json).toMatchObject({ code: 400, message: /WebSocket/ });
});

/** A number that has stopped growing. */
const settled = async (read: () => number): Promise<number> => {
  let before = -1;
  return until(
    'it stands still',
    () => {
      const now = read();
      if (now === before && now > 0) return now;
      before = now;
      return undefined;
    },
    { everyMs: 400 },
  );
};
