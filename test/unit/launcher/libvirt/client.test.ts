import { afterEach, expect, test } from '@jest/globals';
import { LibvirtClient } from '../../../../launcher/libvirt/client.ts';
import { LibvirtSilentError } from '../../../../launcher/libvirt/errors.ts';
import type { DomainEvent } from '../../../../launcher/libvirt/events.ts';
import { XdrWriter } from '../../../../launcher/libvirt/xdr.ts';
import { until } from '../../../support/until.ts';
import { FakeLibvirtd, greeting } from './fake-libvirtd.ts';

let fake: FakeLibvirtd;
afterEach(() => fake.stop());

const connect = (onEvent: (event: DomainEvent) => void = () => undefined): Promise<LibvirtClient> =>
  LibvirtClient.connect({ socketPath: fake.path, uri: 'qemu:///session', onEvent });

const domain = { name: 'ns_vm', uuid: Buffer.alloc(16, 7), id: 3 };
const eventBody = (...details: number[]): Buffer => {
  const writer = new XdrWriter().i32(0).string(domain.name).fixed(domain.uuid).i32(domain.id);
  details.forEach((detail) => writer.i32(detail));
  return writer.toBuffer();
};

test('connecting authenticates, opens the driver, checks the version and registers for every event once', async () => {
  fake = await FakeLibvirtd.start();
  const client = await connect();
  expect(fake.peer.received.map((frame) => frame.procedure)).toEqual([66, 60, 1, 157, 316, 316, 316, 316, 316, 316]);
  await client.close();
});

test('a libvirt that is too old is refused with both versions', async () => {
  fake = await FakeLibvirtd.start({ ...greeting, 157: (call, peer) => peer.reply(call, (w) => w.u64(8_005_001n)) });
  await expect(connect()).rejects.toThrow('libvirt 8.5.1 is too old: 9.0.0 is needed');
});

test('a libvirt that wants authentication is refused with the remedy', async () => {
  fake = await FakeLibvirtd.start({
    ...greeting,
    66: (call, peer) => peer.reply(call, (w) => w.list([1], (type) => w.i32(type))),
  });
  await expect(connect()).rejects.toThrow(/auth_unix_rw = "none"/);
});

test('a libvirt that accepts connections but never answers is told apart: it is frozen', async () => {
  fake = await FakeLibvirtd.start({});
  const options = { socketPath: fake.path, uri: 'qemu:///session', onEvent: () => undefined };
  await expect(LibvirtClient.connect({ ...options, firstAnswerTimeoutMs: 20 })).rejects.toThrow(LibvirtSilentError);
});

test.each([
  { message: 318, details: [2, 0], event: { kind: 'lifecycle', lifecycle: 'started', detail: 'booted' } },
  { message: 318, details: [5, 1], event: { kind: 'lifecycle', lifecycle: 'stopped', detail: 'destroyed' } },
  { message: 318, details: [5, 77], event: { kind: 'lifecycle', lifecycle: 'stopped', detail: 'unknown' } },
  { message: 319, details: [], event: { kind: 'reboot' } },
  { message: 348, details: [1, 1], event: { kind: 'agent', connected: true } },
  { message: 348, details: [2, 1], event: { kind: 'agent', connected: false } },
])('message $message $details is $event', async ({ message, details, event }) => {
  fake = await FakeLibvirtd.start();
  const events: DomainEvent[] = [];
  const client = await connect((received) => events.push(received));
  fake.peer.send({ procedure: 9999, payload: Buffer.from('anything') });
  fake.peer.send({ procedure: message, payload: eventBody(...details) });
  await until('the event', () => events.length > 0);
  expect(events).toEqual([{ ...event, domain }]);
  await client.close();
});

test('a malformed event ends the connection', async () => {
  fake = await FakeLibvirtd.start();
  const client = await connect();
  fake.peer.send({ procedure: 318, payload: Buffer.from('0001', 'hex') });
  expect((await client.closed).message).toMatch(/message ends early/);
});
