import { expect, test } from '@jest/globals';
import { hypervRules } from '../../../../api/validation/hyperv.ts';
import { ofDomain } from './told.ts';

const FIELD = 'Invalid spec.domain.features.hyperv';
const on = { enabled: true };
const off = { enabled: false };

test.each<[string, object, object, string[]]>([
  ['with what it needs', { synic: on, vpindex: on }, {}, []],
  ['without', { synic: on, vpindex: off }, {}, [`${FIELD}.synic`]],
  ['several without', { ipi: on, tlbflush: on, vpindex: off }, {}, [`${FIELD}.ipi`, `${FIELD}.tlbflush`]],
  ['a chain', { synictimer: on, synic: off }, {}, [`${FIELD}.synictimer`]],
  ['off needs nothing', { synictimer: off }, {}, []],
  ['nested virtualisation', { evmcs: on, vapic: on }, { cpu: { features: [{ name: 'vmx', policy: 'require' }] } }, []],
  ['nested without a CPU feature', { evmcs: on, vapic: on }, {}, ['Required spec.domain.cpu.features']],
  [
    'nested with the feature off',
    { evmcs: on, vapic: on },
    { cpu: { features: [{ name: 'vmx', policy: 'disable' }] } },
    ['Invalid spec.domain.cpu.features[0].policy'],
  ],
])('%s', (_, hyperv, more, expected) => {
  expect(ofDomain(hypervRules, { features: { hyperv }, ...more })).toEqual(expected);
});

test('the host’s own and a list exclude each other', () => {
  expect(ofDomain(hypervRules, { features: { hyperv: {}, hypervPassthrough: {} } })).toEqual([FIELD]);
  expect(ofDomain(hypervRules, { features: { hypervPassthrough: {} } })).toEqual([]);
});
