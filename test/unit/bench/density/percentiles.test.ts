import { expect, test } from '@jest/globals';
import { percentile } from '../../../bench/density/percentiles.ts';

const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);

test.each([
  [hundred, 0.5, 50],
  [hundred, 0.95, 95],
  [hundred, 0.99, 99],
  [hundred, 1, 100],
  [[7], 0.5, 7],
  [[1, 2, 3], 0.5, 2],
  [[10, 9], 0.5, 9],
])('of %j the share %d lies at or below %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});

test('nothing has no percentile', () => {
  expect(percentile([], 0.5)).toBeNaN();
});
