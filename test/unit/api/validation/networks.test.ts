import { expect, test } from '@jest/globals';
import { defaultNetwork, networkRules } from '../../../../api/validation/networks.ts';
import { configured, gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const judge = (networks: object[], spec: object = {}, config = gated([])): string[] => {
  const interfaces = networks.map((network) => ({ sriov: {}, ...network }));
  return ofDomain(networkRules, { devices: { interfaces } }, { networks, ...spec }, config);
};
const multus = (name: string, more: object = {}): object => ({ name, multus: { networkName: name, ...more } });
const claim = (name: string, claimName = 'nics', requestName = name): object => ({
  name,
  resourceClaim: { claimName, requestName },
});

test.each<[string, object[], string[]]>([
  ['the Pod’s and another', [{ name: 'a', pod: {} }, multus('b')], []],
  [
    'two Pod networks',
    [
      { name: 'a', pod: {} },
      { name: 'b', pod: {} },
    ],
    ['Duplicate spec.interfaces'],
  ],
  ['two defaults', [multus('a', { default: true }), multus('b', { default: true })], ['Invalid spec.networks']],
  ['a default beside the Pod’s', [{ name: 'a', pod: {} }, multus('b', { default: true })], ['Invalid spec.networks']],
  ['no attachment', [{ name: 'a', multus: { networkName: '' } }], ['Required spec.networks[0]']],
  ['of no type', [{ name: 'a' }], ['Required spec.networks[0]']],
  ['of two types', [{ pod: {}, ...multus('a') }], ['Required spec.networks[0]']],
  ['one name twice', [multus('a'), multus('a')], ['Duplicate spec.networks[1].name']],
])('%s', (_, networks, expected) => {
  expect(judge(networks)).toEqual(expected);
});

test('each has an interface', () => {
  expect(ofDomain(networkRules, {}, { networks: [{ name: 'a', pod: {} }] })).toEqual([
    'Required spec.networks[0].name',
  ]);
});

test('networks of claims have a gate', () => {
  expect(judge([claim('a')])).toEqual(['Invalid spec.networks']);
});

test.each<[string, object[], string[]]>([
  ['of claims', [claim('a'), claim('b')], []],
  ['beside Multus', [claim('a'), multus('b')], ['Invalid spec.networks']],
  ['of an unknown claim', [claim('a', 'lost')], ['NotFound spec.networks[0].resourceClaim.claimName']],
  [
    'of nothing',
    [claim('a', '', '')],
    ['Required spec.networks[0].resourceClaim.claimName', 'Required spec.networks[0].resourceClaim.requestName'],
  ],
  ['of one request twice', [claim('a'), claim('b', 'nics', 'a')], ['Duplicate spec.networks[1]']],
])('networks %s', (_, networks, expected) => {
  const resourceClaims = [{ name: 'nics', resourceClaimName: 'nics' }];
  expect(judge(networks, { resourceClaims }, gated(['NetworkDevicesWithDRA']))).toEqual(expected);
});

test.each([
  [{}, ['Required spec.networks[0].name']],
  [{ autoattachPodInterface: false }, []],
  [{ interfaces: [{ name: 'a', bridge: {} }] }, []],
])('devices %j after the defaults of a cluster whose binding is gone', (devices, expected) => {
  const slirp = configured({ network: { defaultNetworkInterface: 'slirp' } });
  expect(ofDomain(defaultNetwork, { devices }, {}, slirp)).toEqual(expected);
});
