import { expect, test } from '@jest/globals';
import { claimRules } from '../../../../api/validation/claims.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const CLAIM = 'spec.resourceClaims[0]';
const devices = (list: 'gpus' | 'hostDevices', ...given: object[]): object => ({ devices: { [list]: given } });
const byClaim = (name: string, requestName = name, claimName = 'c'): object => ({ name, claimName, requestName });
const claims = { resourceClaims: [{ name: 'c', resourceClaimName: 'c' }] };

test.each<[string, object, string[]]>([
  ['by object', { name: 'c', resourceClaimName: 'a.b' }, []],
  ['by template', { name: 'c', resourceClaimTemplateName: 't' }, []],
  ['of no name', { name: '', resourceClaimName: 'c' }, [`Required ${CLAIM}.name`]],
  ['of no label', { name: 'a.b', resourceClaimName: 'c' }, [`Invalid ${CLAIM}.name`]],
  ['from nowhere', { name: 'c' }, [`Invalid ${CLAIM}`]],
  ['from both', { name: 'c', resourceClaimName: 'c', resourceClaimTemplateName: 't' }, [`Invalid ${CLAIM}`]],
  ['from a malformed object', { name: 'c', resourceClaimName: 'A' }, [`Invalid ${CLAIM}.resourceClaimName`]],
])('a claim %s', (_, claim, expected) => {
  expect(ofDomain(claimRules, {}, { resourceClaims: [claim] })).toEqual(expected);
});

test('names of claims are unique', () => {
  const claim = { name: 'c', resourceClaimName: 'c' };
  expect(ofDomain(claimRules, {}, { resourceClaims: [claim, claim] })).toEqual([
    'Duplicate spec.resourceClaims[1].name',
  ]);
});

test.each<[string, object, string[]]>([
  ['by name', devices('gpus', { name: 'a', deviceName: 'v/a' }), []],
  ['by claim', devices('gpus', byClaim('a')), []],
  ['of neither', devices('hostDevices', { name: 'a' }), ['Required spec.domain.devices.hostDevices']],
  ['of both', devices('gpus', { ...byClaim('a'), deviceName: 'v/a' }), ['Invalid spec.domain.devices.gpus']],
  [
    'of two kinds',
    devices('gpus', byClaim('a'), { name: 'b', deviceName: 'v/b' }),
    ['Invalid spec.domain.devices.gpus'],
  ],
  ['of two kinds, not GPUs', devices('hostDevices', byClaim('a'), { name: 'b', deviceName: 'v/b' }), []],
  ['of no request', devices('gpus', byClaim('a', '')), ['Required spec.domain.devices.gpus[0].requestName']],
  ['of an unlisted claim', devices('gpus', byClaim('a', 'a', 'lost')), ['Invalid spec.resourceClaims']],
  ['of one request', devices('gpus', byClaim('a'), byClaim('b', 'a')), ['Duplicate spec.domain.devices.gpus[1]']],
])('devices %s', (_, domain, expected) => {
  expect(ofDomain(claimRules, domain, claims)).toEqual(expected);
});

test('a request is one device, networks among them', () => {
  const networks = [{ name: 'n', resourceClaim: { claimName: 'c', requestName: 'a' } }];
  const gates = gated(['NetworkDevicesWithDRA']);
  expect(ofDomain(claimRules, devices('gpus', byClaim('a')), { ...claims, networks }, gates)).toEqual([
    'Duplicate spec.networks[0]',
  ]);
});

test('devices by claim have a gate', () => {
  expect(ofDomain(claimRules, devices('gpus', byClaim('a')), claims, gated([], ['GPUsWithDRA']))).toEqual([
    'Invalid spec.domain.devices.gpus',
  ]);
});
