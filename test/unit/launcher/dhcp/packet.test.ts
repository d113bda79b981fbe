import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessageType, parseRequest, renderReply } from '../../../../launcher/dhcp/packet.ts';
import type { Lease } from '../../../../launcher/dhcp/packet.ts';

const MAC = '52:54:00:01:02:03';

/** A request as a client lays it out. */
function clientMessage(
  type: number,
  options: [number, number[]][] = [],
  { ciaddr = [0, 0, 0, 0], flags = 0x8000 } = {},
): Buffer {
  const header = Buffer.alloc(236);
  header.set([1, 1, 6, 0]);
  header.writeUInt32BE(0xdeadbeef, 4);
  header.writeUInt16BE(flags, 10);
  header.set(ciaddr, 12);
  header.set(Buffer.from(MAC.replaceAll(':', ''), 'hex'), 28);
  const encoded = [[53, [type]] as [number, number[]], ...options].flatMap(([code, value]) => [
    code,
    value.length,
    ...value,
  ]);
  return Buffer.concat([header, Buffer.from([99, 130, 83, 99]), Buffer.from([0, ...encoded, 255])]);
}

/** Options of a reply, by code. */
function optionsOf(reply: Buffer): Map<number, Buffer> {
  const options = new Map<number, Buffer>();
  for (let at = 240; reply[at] !== 255; at += 2 + (reply[at + 1] ?? 0)) {
    options.set(reply[at] ?? 0, reply.subarray(at + 2, at + 2 + (reply[at + 1] ?? 0)));
  }
  return options;
}

const lease: Lease = {
  address: '10.0.2.2',
  prefixLength: 24,
  router: '10.0.2.1',
  dnsServers: ['10.96.0.10', '1.1.1.1'],
  searchDomains: ['ns.svc.cluster.local', 'svc.cluster.local'],
  mtu: 1450,
  hostname: 'vm',
};

test('a request is read with the options that matter', () => {
  const bytes = clientMessage(MessageType.request, [
    [50, [10, 0, 2, 2]],
    [54, [10, 0, 2, 1]],
  ]);
  expect(parseRequest(bytes)).toEqual({
    transaction: 0xdeadbeef,
    messageType: MessageType.request,
    broadcast: true,
    clientAddress: '0.0.0.0',
    mac: MAC,
    serverId: '10.0.2.1',
    requestedAddress: '10.0.2.2',
  });
});

test('an offer carries address, network, DNS, search list, MTU and host name', () => {
  const request = parseRequest(clientMessage(MessageType.discover));
  const reply = renderReply(request!, MessageType.offer, lease);
  expect(reply.length).toBeGreaterThanOrEqual(300);
  expect([reply[0], reply.readUInt32BE(4), [...reply.subarray(16, 20)]]).toEqual([2, 0xdeadbeef, [10, 0, 2, 2]]);
  const options = optionsOf(reply);
  expect([...(options.get(53) ?? [])]).toEqual([MessageType.offer]);
  expect([...(options.get(1) ?? [])]).toEqual([255, 255, 255, 0]);
  expect([...(options.get(3) ?? [])]).toEqual([10, 0, 2, 1]);
  expect([...(options.get(54) ?? [])]).toEqual([10, 0, 2, 1]);
  expect([...(options.get(6) ?? [])]).toEqual([10, 96, 0, 10, 1, 1, 1, 1]);
  expect(options.get(26)?.readUInt16BE()).toBe(1450);
  expect(options.get(12)?.toString()).toBe('vm');
  expect(options.get(15)?.toString()).toBe('ns.svc.cluster.local');
  expect(options.get(119)?.toString('latin1')).toBe('\x02ns\x03svc\x07cluster\x05local\0\x03svc\x07cluster\x05local\0');
});

test('a refusal grants nothing', () => {
  const request = parseRequest(clientMessage(MessageType.request));
  const reply = renderReply(request!, MessageType.nak, lease);
  expect([...reply.subarray(16, 20)]).toEqual([0, 0, 0, 0]);
  expect([...optionsOf(reply).keys()]).toEqual([53, 54]);
});

test('a search list that is too long for one option is cut between domains', () => {
  const searchDomains = Array.from({ length: 40 }, (_, n) => `domain-${n}.example`);
  const request = parseRequest(clientMessage(MessageType.discover));
  const option = optionsOf(renderReply(request!, MessageType.offer, { ...lease, searchDomains })).get(119);
  expect(option?.length).toBeLessThanOrEqual(255);
  expect(option?.at(-1)).toBe(0);
});

test('random bytes and cut messages are no requests, and never an exception', () => {
  const whole = clientMessage(MessageType.discover, [[50, [1, 2, 3, 4]]]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat({ max: whole.length }), (bytes, length) => {
      parseRequest(Buffer.from(bytes));
      parseRequest(whole.subarray(0, length));
    }),
  );
  expect(parseRequest(whole.subarray(0, 239))).toBeUndefined();
  expect(parseRequest(Buffer.from(whole).fill(2, 0, 1))).toBeUndefined();
});
