import { expect, test } from '@jest/globals';
import { parseReadings, switchovers, violations, type Reading } from '../../../e2e/support/readings.ts';

const A = '11111111-2222-3333-4444-555555555555';
const B = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';

const series = (...values: [boot: string, counter: number, source?: string][]): Reading[] =>
  values.map(([boot, counter, source = 'qemu 1'], i) => ({ boot, counter, source, at: i * 10 }));

test('console output is cut into readings, other lines and the unfinished last one are left out', () => {
  const { readings, rest } = parseReadings(`boot noise\r\n${A} 1\r\n${A} 2\r\n${A.slice(0, 9)}`, 'qemu 1', 5);
  expect(readings.map(({ boot, counter }) => [boot, counter])).toEqual([
    [A, 1],
    [A, 2],
  ]);
  expect(rest).toBe(A.slice(0, 9));
});

test.each([
  ['one boot', series([A, 1], [A, 2], [A, 3])],
  ['a restart', series([A, 1], [A, 2], [B, 1], [B, 2])],
  ['readings lost in between', series([A, 1], [A, 900])],
  ['a migration', series([A, 1], [A, 2], [A, 3, 'qemu 2'], [A, 4, 'qemu 2'])],
])('%s is no violation', (_, readings) => {
  expect(violations(readings)).toEqual([]);
});

test.each([
  ['a value seen twice', series([A, 1], [A, 2], [A, 2, 'qemu 2'])],
  ['a counter that goes back', series([A, 5], [A, 3, 'qemu 2'])],
  ['two consoles that take turns', series([A, 1], [A, 2, 'qemu 2'], [A, 3])],
  ['two boots that take turns', series([A, 1], [B, 1, 'qemu 2'], [A, 2])],
])('%s is a violation', (_, readings) => {
  expect(violations(readings)).not.toEqual([]);
});

test('a switchover is where a boot goes on counting on another console', () => {
  const readings = series([A, 1], [A, 2], [A, 5, 'qemu 2'], [A, 6, 'qemu 2'], [B, 1, 'qemu 3']);
  expect(switchovers(readings)).toEqual([{ boot: A, from: 'qemu 1', to: 'qemu 2', missed: 2, gap: 10 }]);
});
