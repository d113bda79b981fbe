import { expect, test } from '@jest/globals';
import { answerTo } from '../../../../launcher/dhcp/answer.ts';
import { guestAddress, interfacesOf, parseResolvConf } from '../../../../launcher/dhcp/lease.ts';
import { MessageType } from '../../../../launcher/dhcp/packet.ts';

const { discover, offer, request, decline, ack, nak, release, inform } = MessageType;
const mac = '52:54:00:01:02:03';
const lease = {
  address: '10.0.2.2',
  prefixLength: 24,
  router: '10.0.2.1',
  dnsServers: [],
  searchDomains: [],
  macs: [mac],
};
const base = { transaction: 1, broadcast: true, clientAddress: '0.0.0.0', mac };

test.each([
  { what: 'discover', message: { messageType: discover }, answer: offer },
  {
    what: 'request of the offered address',
    message: { messageType: request, requestedAddress: '10.0.2.2', serverId: '10.0.2.1' },
    answer: ack,
  },
  { what: 'renewal', message: { messageType: request, clientAddress: '10.0.2.2' }, answer: ack },
  { what: 'request of another address', message: { messageType: request, requestedAddress: '10.0.2.9' }, answer: nak },
  {
    what: 'request to another server',
    message: { messageType: request, requestedAddress: '10.0.2.2', serverId: '10.0.2.7' },
    answer: undefined,
  },
  { what: 'inform', message: { messageType: inform }, answer: ack },
  { what: 'release', message: { messageType: release }, answer: undefined },
  { what: 'decline', message: { messageType: decline }, answer: undefined },
  { what: "a stranger's discover", message: { messageType: discover, mac: '52:54:00:ff:ff:ff' }, answer: undefined },
])('$what → $answer', ({ message, answer }) => {
  expect(answerTo({ ...base, ...message }, lease)).toBe(answer);
});

test('name servers and search domains come from resolv.conf; loopback servers are of no use to a guest', () => {
  const text =
    '# by kubelet\nsearch ns.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\nnameserver 127.0.0.53\nnameserver ::1\noptions ndots:5\n';
  expect(parseResolvConf(text)).toEqual({
    dnsServers: ['10.96.0.10'],
    searchDomains: ['ns.svc.cluster.local', 'svc.cluster.local'],
  });
  expect(parseResolvConf('')).toEqual({ dnsServers: [], searchDomains: [] });
});

test('the guest has the address after its gateway', () => {
  expect([guestAddress('10.0.2.1'), guestAddress('192.168.0.255')]).toEqual(['10.0.2.2', '192.168.1.0']);
});

test("hardware addresses and MTU come from the domain's XML", () => {
  const xml = `<domain><devices><disk><source file='a'/></disk><interface type='ethernet'>
    <mac address='52:54:00:AB:00:01'/><mtu size='1450'/></interface></devices></domain>`;
  expect(interfacesOf(xml)).toEqual({ macs: ['52:54:00:ab:00:01'], mtu: 1450 });
  expect(interfacesOf('<domain/>')).toEqual({ macs: [] });
});
