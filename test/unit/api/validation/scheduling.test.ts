import { expect, test } from '@jest/globals';
import { schedulingRules } from '../../../../api/validation/scheduling.ts';
import { told } from './told.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const TERMS = `Invalid spec.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
const E0 = `${TERMS}[0].matchExpressions[0]`;
const F0 = `${TERMS}[0].matchFields[0]`;
const nodes = (term: object): object => ({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [term] } } } });
const expression = (operator: string, values?: string[], key = 'rack'): object =>
  nodes({ matchExpressions: [{ key, operator, ...(values ? { values } : {}) }] });
const node = (key: string, operator: string, ...values: string[]): object =>
  nodes({ matchFields: [{ key, operator, values }] });

test.each<[string, object, string[]]>([
  ['in a list', expression('In', ['r1']), []],
  ['in no list', expression('In'), [`${E0}.values`]],
  ['there, with values', expression('Exists', ['r1']), [`${E0}.values`]],
  ['greater than two', expression('Gt', ['1', '2']), [`${E0}.values`]],
  ['an unknown operator', expression('Near', ['r1']), [`${E0}.operator`]],
  ['a malformed key', expression('Exists', undefined, '-x'), [`${E0}.key`]],
  ['no term', { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } } }, [TERMS]],
  ['a node', node('metadata.name', 'In', 'node-1'), []],
  ['two nodes', node('metadata.name', 'In', 'a', 'b'), [`${F0}.values`]],
  ['a node by another field', node('spec.x', 'In', 'a'), [`${F0}.key`]],
  ['a node by another operator', node('metadata.name', 'Exists'), [`${F0}.operator`]],
  ['a malformed node', node('metadata.name', 'In', 'Node_1'), [`${F0}.values[0]`]],
  [
    'a weight of nothing',
    { affinity: { nodeAffinity: { [PREFERRED]: [{ weight: 0, preference: {} }] } } },
    [`Invalid spec.nodeAffinity.${PREFERRED}[0].weight`],
  ],
])('nodes: %s', (_, spec, expected) => {
  expect(told(schedulingRules, spec)).toEqual(expected);
});

const P0 = `Invalid spec.podAffinity.${REQUIRED}[0]`;
test.each<[string, object, string[]]>([
  ['beside others', { topologyKey: 'zone', labelSelector: { matchLabels: { a: '' } }, namespaces: ['shop'] }, []],
  ['nowhere', { topologyKey: '' }, [`${P0}.topologyKey`]],
  [
    'a malformed label',
    { topologyKey: 'z', labelSelector: { matchLabels: { '-a': 'b c' } } },
    [`${P0}.labelSelector.matchLabels`, `${P0}.labelSelector.matchLabels`],
  ],
  [
    'an unknown operator',
    { topologyKey: 'z', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } },
    [`${P0}.labelSelector.matchExpressions[0].operator`],
  ],
  [
    'in no list',
    { topologyKey: 'z', namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    [`${P0}.namespaceSelector.matchExpressions[0].values`],
  ],
  [
    'there, with values',
    { topologyKey: 'z', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } },
    [`${P0}.labelSelector.matchExpressions[0].values`],
  ],
  ['a malformed namespace', { topologyKey: 'z', namespaces: ['a.b'] }, [`${P0}.namespace`]],
])('Pods: %s', (_, term, expected) => {
  expect(told(schedulingRules, { affinity: { podAffinity: { [REQUIRED]: [term] } } })).toEqual(expected);
});

test('a preference has a weight and a term', () => {
  const affinity = { podAntiAffinity: { [PREFERRED]: [{ weight: 101, podAffinityTerm: { topologyKey: '' } }] } };
  expect(told(schedulingRules, { affinity })).toEqual([
    `Invalid spec.podAntiAffinity.${PREFERRED}[0].weight`,
    `Invalid spec.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.topologyKey`,
  ]);
});

const SPREAD = 'Invalid spec.topologySpreadConstraints[0]';
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
test.each<[string, object[], string[]]>([
  ['over zones and hosts', [spread, { ...spread, topologyKey: 'host' }], []],
  ['a skew of nothing', [{ ...spread, maxSkew: 0 }], [`${SPREAD}.maxSkew`]],
  ['over nothing', [{ ...spread, topologyKey: '' }], [`${SPREAD}.topologyKey`]],
  ['an unknown action', [{ ...spread, whenUnsatisfiable: 'Cry' }], [`${SPREAD}.whenUnsatisfiable`]],
  ['one twice', [spread, spread], [`${SPREAD}.{topologyKey, whenUnsatisfiable}`]],
  [
    'a malformed label',
    [{ ...spread, labelSelector: { matchLabels: { a: '-' } } }],
    ['Invalid spec.topologySpreadConstraints.labelSelector.matchLabels'],
  ],
])('spread %s', (_, topologySpreadConstraints, expected) => {
  expect(told(schedulingRules, { topologySpreadConstraints })).toEqual(expected);
});
