import { afterEach, expect, test } from '@jest/globals';
import { Connection, defaultOptions } from '../../../../launcher/libvirt/connection.ts';
import type { ConnectionOptions, EventListener } from '../../../../launcher/libvirt/connection.ts';
import {
  LibvirtConnectionError,
  LibvirtError,
  LibvirtProtocolError,
  LibvirtSilentError,
  isConnectionLost,
  isNoDomain,
} from '../../../../launcher/libvirt/errors.ts';
import { MessageType, Program, encodeFrame } from '../../../../launcher/libvirt/frame.ts';
import { procedures } from '../../../../launcher/libvirt/procedures.ts';
import type { XdrWriter } from '../../../../launcher/libvirt/xdr.ts';
import { until } from '../../../support/until.ts';
import { FakeLibvirtd, replyTo } from './fake-libvirtd.ts';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.stop()));
});

async function connected(
  answers: Parameters<typeof FakeLibvirtd.start>[0],
  options: Partial<ConnectionOptions> = {},
  onEvent: EventListener = () => undefined,
): Promise<{ fake: FakeLibvirtd; connection: Connection }> {
  const fake = await FakeLibvirtd.start(answers);
  const connection = await Connection.open(fake.path, { ...defaultOptions, ...options }, onEvent);
  await until('the daemon sees the connection', () => fake.peers.length > 0);
  open.push({ stop: () => (connection.close(), fake.stop()) });
  return { fake, connection };
}

const version = (connection: Connection): Promise<bigint> =>
  connection.call('version', procedures.connectGetLibVersion);
const lookup = (connection: Connection, name: string): Promise<unknown> =>
  connection.call('domainLookupByName', procedures.domainLookupByName, name);
const writeVersion = (writer: XdrWriter): XdrWriter => writer.u64(9_000_000n);

test('replies reach their calls, also out of order and split byte by byte', async () => {
  const { fake, connection } = await connected({});
  const calls = [version(connection), version(connection), version(connection)];
  const received = await until('three calls', () => (fake.peer.received.length === 3 ? fake.peer.received : undefined));
  const replies = Buffer.concat(
    [...received].reverse().map((call) => replyTo(call, (writer) => writer.u64(BigInt(call.serial)))),
  );
  for (const byte of replies) fake.peer.socket.write(Buffer.from([byte]));
  expect(await Promise.all(calls)).toEqual([1n, 2n, 3n]);
});

test('an error is that of its call and typed', async () => {
  const { connection } = await connected({
    23: (call, peer) => peer.refuse(call, 42, 'Domain not found'),
    157: (call, peer) => peer.reply(call, writeVersion),
  });
  const [found, answered] = await Promise.allSettled([lookup(connection, 'nobody'), version(connection)]);
  const error: unknown = found.status === 'rejected' ? found.reason : undefined;
  expect(error).toBeInstanceOf(LibvirtError);
  expect(error).toMatchObject({ code: 42, procedure: 'domainLookupByName' });
  expect(isNoDomain(error)).toBe(true);
  expect(isConnectionLost(error)).toBe(false);
  expect(answered).toMatchObject({ status: 'fulfilled', value: 9_000_000n });
});

test('unknown programs, messages, streams and replies to nobody are ignored', async () => {
  const { fake, connection } = await connected({ 157: (call, peer) => peer.reply(call, writeVersion) });
  fake.peer.send({ program: 0x1234 });
  fake.peer.send({ type: MessageType.stream });
  fake.peer.send({ type: MessageType.reply, serial: 4711 });
  fake.peer.send({ type: 9 });
  expect(await version(connection)).toBe(9_000_000n);
});

test('events are handed over with their payload', async () => {
  const events: [number, string][] = [];
  const { fake } = await connected({}, {}, (procedure, reader) => events.push([procedure, reader.string()]));
  fake.peer.send({ procedure: 318, payload: Buffer.from('00000002686900000000'.slice(0, 16), 'hex') });
  await until('the event', () => events.length === 1);
  expect(events).toEqual([[318, 'hi']]);
});

test.each([
  { what: 'an impossible length', bytes: Buffer.from('00000003', 'hex') },
  { what: 'an oversize length', bytes: Buffer.from('7fffffff', 'hex') },
  { what: 'text', bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n padding padding') },
])('$what ends the connection, and every call with it', async ({ bytes }) => {
  const { fake, connection } = await connected({});
  const call = version(connection);
  fake.peer.socket.write(bytes);
  await expect(call).rejects.toBeInstanceOf(LibvirtProtocolError);
  await expect(version(connection)).rejects.toBeInstanceOf(LibvirtProtocolError);
  expect(await connection.closed).toBeInstanceOf(LibvirtProtocolError);
});

test('a reply that is too short rejects its call and ends the connection', async () => {
  const { connection } = await connected({ 157: (call, peer) => peer.reply(call, (writer) => writer.u32(9)) });
  await expect(version(connection)).rejects.toThrow(/cannot read the reply to version/);
  expect(await connection.closed).toBeInstanceOf(LibvirtProtocolError);
});

test('a daemon that goes away rejects the calls under way', async () => {
  const { fake, connection } = await connected({});
  const call = version(connection);
  await until('the call', () => fake.peer.received.length === 1);
  fake.peer.socket.destroy();
  await expect(call).rejects.toBeInstanceOf(LibvirtConnectionError);
});

test("the daemon's pings are answered", async () => {
  const { fake } = await connected({});
  fake.peer.send({ program: Program.keepalive, procedure: 1 });
  const pong = await until('the answer', () => fake.peer.received[0]);
  expect(pong).toMatchObject({ program: Program.keepalive, procedure: 2, type: MessageType.event });
});

test('a silent daemon is given up after the configured number of pings', async () => {
  const { fake, connection } = await connected({}, { keepaliveIntervalMs: 10, keepaliveCount: 3 });
  connection.startKeepalive();
  expect((await connection.closed).message).toMatch(/has not answered 3 keepalive messages/);
  expect(await connection.closed).toBeInstanceOf(LibvirtSilentError);
  expect(fake.peer.received.map((frame) => [frame.program, frame.procedure])).toEqual(
    Array.from({ length: 3 }, () => [Program.keepalive, 1]),
  );
});

test('a daemon that sends anything at all is not given up', async () => {
  const { fake, connection } = await connected({}, { keepaliveIntervalMs: 20, keepaliveCount: 2 });
  fake.peer.socket.on('data', () => fake.peer.send({ procedure: 9999 }));
  connection.startKeepalive();
  let closed = false;
  void connection.closed.then(() => (closed = true));
  await until('more pings than a silent daemon is granted', () => fake.peer.received.length >= 6);
  expect(closed).toBe(false);
});

test('calls are refused once too much waits to be written', async () => {
  const { fake, connection } = await connected({}, { maxQueuedBytes: 64 * 1024 });
  fake.peer.socket.pause();
  const define = (): Promise<unknown> =>
    connection.call('define', procedures.domainDefineXmlFlags, 'x'.repeat(1024 * 1024), 0);
  const outcomes = Array.from({ length: 8 }, () =>
    define().then(
      () => 'answered',
      (error: Error) => error.message,
    ),
  );
  expect(await outcomes.at(-1)).toMatch(/refused: libvirt has stopped reading/);
  connection.close();
  await Promise.all(outcomes);
});

test('a socket that does not exist is a clear error', async () => {
  await expect(Connection.open('/nonexistent/sock', defaultOptions, () => undefined)).rejects.toThrow(
    /cannot connect to libvirt at \/nonexistent\/sock/,
  );
});

test('a large frame in many chunks is received', async () => {
  const { fake, connection } = await connected({
    14: (call, peer) => peer.reply(call, (writer) => writer.string('x'.repeat(3_000_000))),
  });
  const domain = { name: 'a', uuid: Buffer.alloc(16), id: 1 };
  expect((await connection.call('xml', procedures.domainGetXmlDesc, domain, 0)).length).toBe(3_000_000);
  expect(encodeFrame(fake.peer.received[0]!).length).toBeLessThan(100);
});
