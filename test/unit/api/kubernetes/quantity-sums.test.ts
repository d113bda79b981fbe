import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bytesQuantity,
  compareQuantities,
  isQuantity,
  subtractQuantities,
  sumQuantities,
} from '../../../../api/kubernetes/quantity.ts';

test.each([
  [['1Gi', '288Mi'], '1312Mi'],
  [['1G', '50M'], '1050000000'],
  [['100m', '0.5'], '600m'],
  [['1', '1m', '999m'], '2'],
  [['1n', '2u'], '2001n'],
  [[], '0'],
])('the sum of %j is %s', (quantities, expected) => {
  expect(sumQuantities(...quantities)).toBe(expected);
});

test('what was added can be taken away again', () => {
  const quantity = fc
    .tuple(fc.nat(1_000_000), fc.constantFrom('', 'm', 'k', 'Mi', 'G', 'Gi'))
    .map(([n, suffix]) => `${n}${suffix}`);
  fc.assert(
    fc.property(quantity, quantity, (a, b) => {
      expect(compareQuantities(subtractQuantities(sumQuantities(a, b), b), a)).toBe(0);
    }),
  );
});

test.each([
  [2 ** 30, '1024Mi'],
  [1000, '1000'],
  [0, '0'],
])('%d bytes are written %s', (bytes, expected) => {
  expect(bytesQuantity(bytes)).toBe(expected);
});

test.each([
  ['2Mi', true],
  ['-1.5e3', true],
  ['', false],
  ['Mi', false],
  ['big', false],
])('"%s" is a quantity: %s', (text, expected) => {
  expect(isQuantity(text)).toBe(expected);
});
