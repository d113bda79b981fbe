import { expect, test } from '@jest/globals';
import { cpuSecondsOf, peakMemoryOf } from '../../../bench/density/process-cost.ts';

test('CPU seconds are those of user and system, whatever the name of the process', () => {
  const stat = `42 (node (a) b) S 1 42 42 0 -1 4194304 9 0 0 0 250 50 7 8 20 0 11 0 1000 1 1`;
  expect(cpuSecondsOf(stat)).toBe(3);
});

test('the most memory is told in MiB', () => {
  expect(peakMemoryOf('Name:\tnode\nVmHWM:\t  524288 kB\nVmRSS:\t 1024 kB\n')).toBe(512);
});
