import { expect, test } from '@jest/globals';
import { interfaceStatuses } from '../../../../../activities/controller/instance/interfaces.ts';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import type { GuestInfo } from '../../../../../api/launcher/reports.ts';
import { instance } from '../../../../support/instances.ts';

const MAC = '02:00:00:00:00:01';
const vmi = (nic: object = {}, more: object[] = []) =>
  instance({
    domain: { devices: { interfaces: [...more, { name: 'default', masquerade: {}, macAddress: MAC, ...nic }] } },
    networks: [
      { name: 'red', multus: { networkName: 'red' } },
      { name: 'default', pod: {} },
    ],
  });
const pod: Pod = { metadata: { uid: 'pu' }, status: { podIPs: [{ ip: '10.244.0.5' }, { ip: 'fd00::5' }] } };
const guest = (...interfaces: NonNullable<GuestInfo['interfaces']>) => ({ agent: { connected: true, interfaces } });
const eth0 = (...addresses: string[]) => ({ name: 'eth0', mac: MAC.toUpperCase(), addresses });

test('before the guest runs, what is known of the Pod; that of the Pod network first', () => {
  expect(interfaceStatuses(vmi({}, [{ name: 'red', bridge: {} }]), undefined, pod)).toEqual([
    { name: 'default', podInterfaceName: 'eth0' },
    { name: 'red', podInterfaceName: 'podb1f51a511f1', infoSource: 'multus-status' },
  ]);
});

test('without an agent, the interfaces as the domain has them', () => {
  const hardware = { interfaces: { default: { mac: '02:00:00:00:00:07', queues: 4, link: 'down' } } };
  expect(interfaceStatuses(vmi(), { agent: { connected: false }, hardware }, pod)).toEqual([
    {
      ...{ name: 'default', mac: '02:00:00:00:00:07', podInterfaceName: 'eth0', infoSource: 'domain' },
      ...{ ipAddress: '10.244.0.5', ipAddresses: ['10.244.0.5', 'fd00::5'], queueCount: 4, linkState: 'down' },
    },
  ]);
});

test('of a launcher that reports no hardware, as they are configured', () => {
  expect(interfaceStatuses(vmi({ state: 'down' }), { agent: { connected: false } }, undefined)).toEqual([
    {
      ...{ name: 'default', mac: MAC, podInterfaceName: 'eth0', infoSource: 'domain' },
      ...{ queueCount: 1, linkState: 'down' },
    },
  ]);
});

test('with an agent, then what only the guest knows; its loopback is nobody’s', () => {
  const told = guest(
    { name: 'lo', addresses: ['127.0.0.1'] },
    { name: 'docker0', mac: '02:00:00:00:00:99', addresses: ['172.17.0.1'] },
    eth0('10.0.2.2', 'fd10:0:2::2'),
  );
  expect(interfaceStatuses(vmi(), told, pod)).toEqual([
    {
      ...{ name: 'default', mac: MAC, interfaceName: 'eth0', podInterfaceName: 'eth0' },
      ...{ ipAddress: '10.244.0.5', ipAddresses: ['10.244.0.5', 'fd00::5'] },
      ...{ infoSource: 'domain, guest-agent', queueCount: 1, linkState: 'up' },
    },
    {
      interfaceName: 'docker0',
      mac: '02:00:00:00:00:99',
      ipAddress: '172.17.0.1',
      ipAddresses: ['172.17.0.1'],
      infoSource: 'guest-agent',
    },
  ]);
});

test.each<[string, object, string[], string[]]>([
  ['the guest has both', {}, ['10.0.2.2', 'fd10::2'], ['10.244.0.5', 'fd00::5']],
  ['it has no address of one family', {}, ['10.0.2.2'], ['10.244.0.5']],
  ['a link-local one behind masquerade counts for nothing', {}, ['10.0.2.2', 'fe80::1'], ['10.244.0.5']],
  ['it has none at all', {}, [], []],
  [
    'on a bridge it is reached by it',
    { masquerade: undefined, bridge: {} },
    ['10.244.0.5', 'fe80::1'],
    ['10.244.0.5', 'fd00::5'],
  ],
])('addresses on the Pod network: %s', (_, nic, told, shown) => {
  expect(interfaceStatuses(vmi(nic), guest(eth0(...told)), pod)[0]?.ipAddresses ?? []).toEqual(shown);
});

test('a secondary network has the addresses that the guest has given itself', () => {
  const nics = [{ name: 'red', bridge: {}, macAddress: '02:00:00:00:00:02' }];
  const told = guest({ name: 'eth1', mac: '02:00:00:00:00:02', addresses: ['192.168.1.2'] });
  expect(interfaceStatuses(vmi({}, nics), told, pod)[1]).toMatchObject({
    ...{ name: 'red', ipAddresses: ['192.168.1.2'], infoSource: 'domain, guest-agent, multus-status' },
  });
});

test('of what only the guest knows, ten are shown', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({
    name: `br${index}`,
    mac: `02:00:00:00:01:${index}`,
    addresses: [],
  }));
  expect(interfaceStatuses(vmi(), guest(...many), pod)).toHaveLength(11);
});

test('interfaces that are unplugged, and a spec that nobody can read, have none', () => {
  expect(interfaceStatuses(vmi({ state: 'absent' }), guest(), pod)).toEqual([]);
  expect(interfaceStatuses(instance({ domain: { devices: { interfaces: 7 } } }), guest(), pod)).toEqual([]);
});
