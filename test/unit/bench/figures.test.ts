import { expect, test } from '@jest/globals';
import { figure, isWithin, median, renderFigures } from '../../bench/figures.ts';

test.each([
  [[3], 3],
  [[5, 1, 3], 3],
  [[4, 1, 2, 3], 2.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test.each<[string, { value: number; against?: number; limit?: number }, boolean]>([
  ['a ratio at its limit', { value: 150, against: 100, limit: 1.5 }, true],
  ['a ratio above its limit', { value: 151, against: 100, limit: 1.5 }, false],
  ['a value alone at its limit', { value: 3, limit: 3 }, true],
  ['a value alone above its limit', { value: 4, limit: 3 }, false],
  ['a figure for information has no limit', { value: 999, against: 1 }, true],
])('%s', (_, one, within) => {
  expect(isWithin(figure({ name: 'x', unit: 'ms', ...one }))).toBe(within);
});

test('a figure above its limit stands out in the table', () => {
  expect(renderFigures([figure({ name: 'slow', value: 30, unit: 's', against: 10, limit: 2 })])).toContain('ABOVE');
});
