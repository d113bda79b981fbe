import { expect, test } from '@jest/globals';
import { isWithin } from '../../../bench/figures.ts';
import { actionAt } from '../../../bench/soak/cycle.ts';
import { growthOf, residentOf } from '../../../bench/soak/growth.ts';

const samples = (of: (n: number) => number): number[] => Array.from({ length: 90 }, (_, n) => of(n));

test.each([
  ['that stays as it is', () => 400, true],
  ['that swings', (n: number) => (n % 2 === 0 ? 380 : 420), true],
  ['that fills up at the beginning', (n: number) => Math.min(400, 100 + n * 10), true],
  ['that grows all the time', (n: number) => 200 + n * 4, false],
  ['that grows at the end', (n: number) => (n < 60 ? 400 : 500), false],
])('memory %s', (_, of, isFlat) => {
  expect(isWithin(growthOf('controller', samples(of), true))).toBe(isFlat);
});

test('what is not ours may grow', () => {
  expect(
    isWithin(
      growthOf(
        'temporal',
        samples((n) => n),
        false,
      ),
    ),
  ).toBe(true);
});

test('memory is told in MiB', () => {
  expect(residentOf('VmHWM:\t 524288 kB\nVmRSS:\t  262144 kB\n')).toBe(256);
});

test('every action finds the VM as the one before has left it', () => {
  let runs = true;
  for (let n = 0; n < 30; n += 1) {
    const action = actionAt(n);
    expect(runs).toBe(action !== 'start');
    runs = action !== 'stop';
  }
});
