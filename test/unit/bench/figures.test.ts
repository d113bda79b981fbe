import { expect, test } from '@jest/globals';
import { figure, isWithin, median, renderFigures } from '../../bench/figures.ts';

test.each([
  [[3], 3],
  [[5, 1, 3], 3],
  [[4, 1, 2, 3], 2.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test.each`
  case                                       | value  | against      | limit        | within
  ${'a ratio at its limit'}                  | ${150} | ${100}       | ${1.5}       | ${true}
  ${'a ratio above its limit'}               | ${151} | ${100}       | ${1.5}       | ${false}
  ${'a value alone at its limit'}            | ${3}   | ${undefined} | ${3}         | ${true}
  ${'a value alone above its limit'}         | ${4}   | ${undefined} | ${3}         | ${false}
  ${'a figure for information has no limit'} | ${999} | ${1}         | ${undefined} | ${true}
`(
  '$case',
  ({ value, against, limit, within }: { value: number; against?: number; limit?: number; within: boolean }) => {
    const one = figure({ name: 'x', value, unit: 'ms', ...(against && { against }), ...(limit && { limit }) });
    expect(isWithin(one)).toBe(within);
  },
);

test('a figure above its limit stands out in the table', () => {
  expect(renderFigures([figure({ name: 'slow', value: 30, unit: 's', against: 10, limit: 2 })])).toContain('ABOVE');
});
