import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hostsOf, wantedNetwork } from '../../../../../activities/node/network/interfaces.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';

const vmi = (
  interfaces: object[],
  networks: object[],
  domain: object = {},
  devices: object = {},
): VirtualMachineInstance =>
  ({ spec: { domain: { ...domain, devices: { interfaces, ...devices } }, networks } }) as VirtualMachineInstance;

const podNetwork = { name: 'default', pod: {} };
const masquerade = { name: 'default', masquerade: {} };

test.each([
  ['10.0.2.0/24', '10.0.2.1', '10.0.2.2'],
  ['10.10.10.77/24', '10.10.10.1', '10.10.10.2'],
  ['192.168.255.252/30', '192.168.255.253', '192.168.255.254'],
  ['172.16.0.0/12', '172.16.0.1', '172.16.0.2'],
])('%s gives gateway %s and guest %s', (cidr, gateway, guest) => {
  expect(hostsOf(cidr)).toMatchObject({ gateway, guest });
});

test.each(['10.0.2.0', '10.0.2.0/31', '10.0.2.0/7', '10.0.2.256/24', 'fd10::/120', '', 'x'])(
  '%s is refused',
  (cidr) => {
    expect(() => hostsOf(cidr)).toThrow(/vmNetworkCIDR/);
  },
);

test('gateway and guest are neighbours in the network, for every network', () => {
  const octet = fc.nat(255);
  fc.assert(
    fc.property(octet, octet, octet, octet, fc.integer({ min: 8, max: 30 }), (a, b, c, d, prefix) => {
      const { gateway, guest } = hostsOf(`${a}.${b}.${c}.${d}/${prefix}`);
      const number = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
      const network = Math.floor(number(`${a}.${b}.${c}.${d}`) / 2 ** (32 - prefix));
      expect(number(guest) - number(gateway)).toBe(1);
      expect(Math.floor(number(guest) / 2 ** (32 - prefix))).toBe(network);
    }),
  );
});

test('no interface wants no network', () => {
  expect(wantedNetwork(vmi([], []))).toBeUndefined();
  expect(wantedNetwork(vmi([{ ...masquerade, state: 'absent' }], [podNetwork]))).toBeUndefined();
});

test('masquerade on the pod network', () => {
  const ports = [{ port: 22 }, { port: 53, protocol: 'UDP' }, { port: 80, protocol: 'TCP' }];
  expect(wantedNetwork(vmi([{ ...masquerade, ports }], [podNetwork]))).toEqual({
    gateway: '10.0.2.1',
    guest: '10.0.2.2',
    prefixLength: 24,
    ports: [
      { protocol: 'tcp', port: 22 },
      { protocol: 'udp', port: 53 },
      { protocol: 'tcp', port: 80 },
    ],
    multiQueue: false,
  });
  expect(wantedNetwork(vmi([masquerade], [{ name: 'default', pod: { vmNetworkCIDR: '10.5.0.0/16' } }]))).toMatchObject({
    gateway: '10.5.0.1',
    prefixLength: 16,
  });
});

test('several queues only for several CPUs that ask for them', () => {
  const queues = { networkInterfaceMultiqueue: true };
  expect(wantedNetwork(vmi([masquerade], [podNetwork], { cpu: { cores: 2 } }, queues))?.multiQueue).toBe(true);
  expect(wantedNetwork(vmi([masquerade], [podNetwork], { cpu: { cores: 1 } }, queues))?.multiQueue).toBe(false);
  expect(wantedNetwork(vmi([masquerade], [podNetwork], { cpu: { cores: 2 } }))?.multiQueue).toBe(false);
});

test.each([
  ['another binding', [{ name: 'default', bridge: {} }], [podNetwork], /interfaces\[0\].*masquerade/],
  ['another network', [masquerade], [{ name: 'default', multus: {} }], /interfaces\[0\].*pod network/],
  ['a second interface', [masquerade, { name: 'b', masquerade: {} }], [podNetwork], /interfaces\[1\]/],
])('%s is refused by field', (_, interfaces, networks, message) => {
  expect(() => wantedNetwork(vmi(interfaces, networks))).toThrow(message);
});
