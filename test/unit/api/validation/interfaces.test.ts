import { expect, test } from '@jest/globals';
import { goneBindings, interfaceRules } from '../../../../api/validation/interfaces.ts';
import { configured, gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const I0 = 'Invalid spec.domain.devices.interfaces[0]';
const networks = [
  { name: 'main', pod: {} },
  { name: 'blue', multus: { networkName: 'blue' } },
];
const one = (nic: object, config = configured()): string[] =>
  ofDomain(interfaceRules, { devices: { interfaces: [{ name: 'main', ...nic }] } }, { networks }, config);

test.each<[string, object, string[]]>([
  ['masquerade', { masquerade: {}, macAddress: '02:00:00:aa:bb:01', model: 'virtio' }, []],
  ['a bridge elsewhere, unplugged', { name: 'blue', bridge: {}, state: 'absent' }, []],
  ['no network', { name: 'lost', masquerade: {} }, [`${I0}.name`]],
  ['no binding', {}, [I0]],
  ['two bindings', { masquerade: {}, bridge: {} }, [I0]],
  ['a gone binding', { slirp: {} }, [I0]],
  ['masquerade elsewhere', { name: 'blue', masquerade: {} }, [`${I0}.name`]],
  ['passt elsewhere', { name: 'blue', passtBinding: {} }, [`${I0}.name`]],
  ['the bridge’s MAC', { masquerade: {}, macAddress: '02:00:00:00:00:00' }, [`${I0}.macAddress`]],
  ['a malformed MAC', { masquerade: {}, macAddress: '02:00' }, [`${I0}.macAddress`]],
  ['an unknown model', { masquerade: {}, model: 'ne1' }, ['NotSupported spec.domain.devices.interfaces[0].model']],
  ['a malformed PCI address', { masquerade: {}, pciAddress: '00:1' }, [`${I0}.pciAddress`]],
  ['an unknown state', { name: 'blue', bridge: {}, state: 'asleep' }, [`${I0}.state`]],
  ['the link of an SR-IOV device', { name: 'blue', sriov: {}, state: 'down' }, [`${I0}.state`]],
  ['unplugging what is no bridge', { name: 'blue', sriov: {}, state: 'absent' }, [`${I0}.state`]],
  ['unplugging the main network', { bridge: {}, state: 'absent' }, [`${I0}.state`]],
])('%s', (_, nic, expected) => {
  expect(one(nic)).toEqual(expected);
});

test('names are letters, digits, hyphens and underscores', () => {
  const given = { devices: { interfaces: [{ name: 'a.b', bridge: {} }] } };
  expect(ofDomain(interfaceRules, given, { networks: [{ name: 'a.b', pod: {} }] })).toEqual([`${I0}.name`]);
});

test('a network has one interface', () => {
  const nic = { name: 'main', masquerade: {} };
  expect(ofDomain(interfaceRules, { devices: { interfaces: [nic, nic] } }, { networks })).toEqual([
    'Duplicate spec.domain.devices.interfaces[1].name',
  ]);
});

test('what the cluster does not permit', () => {
  expect(one({ bridge: {} }, configured({ network: { permitBridgeInterfaceOnPodNetwork: false } }))).toEqual([
    `${I0}.name`,
  ]);
  expect(one({ passtBinding: {} }, gated([], ['PasstBinding']))).toEqual([`${I0}.name`]);
});

test('gone bindings are called by name', () => {
  const interfaces = [
    { name: 'a', slirp: {} },
    { name: 'b', macvtap: {} },
    { name: 'c', passt: {} },
  ];
  expect(ofDomain(goneBindings, { devices: { interfaces } })).toEqual([
    'Invalid spec.domain.devices.interfaces[0].slirp',
    'Invalid spec.domain.devices.interfaces[1].macvtap',
    'Invalid spec.domain.devices.interfaces[2].passt',
  ]);
});
