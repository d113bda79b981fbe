import { expect, test } from '@jest/globals';
import { matchesSelector } from '../../../../api/kubernetes/label-selector.ts';

const labels = { tier: 'front', zone: 'a' };

test.each<[string, Parameters<typeof matchesSelector>[0], boolean]>([
  ['an empty selector', {}, true],
  ['labels that match', { matchLabels: { tier: 'front' } }, true],
  ['a label of another value', { matchLabels: { tier: 'back' } }, false],
  ['In', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, true],
  ['In, absent', { matchExpressions: [{ key: 'rack', operator: 'In', values: ['a'] }] }, false],
  ['NotIn', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
  ['NotIn, absent', { matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['a'] }] }, true],
  ['Exists', { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, false],
  ['an unknown operator', { matchExpressions: [{ key: 'zone', operator: 'Like' }] }, false],
  [
    'all must match',
    { matchLabels: { tier: 'front' }, matchExpressions: [{ key: 'rack', operator: 'Exists' }] },
    false,
  ],
])('%s', (_, selector, expected) => {
  expect(matchesSelector(selector, labels)).toBe(expected);
});
