import { expect, test } from '@jest/globals';
import type { MigrationMode, MigrationOptions } from '../../../../api/launcher/migration.ts';
import { allowedMs, judge, startWatch } from '../../../../launcher/migration/convergence.ts';

const GIB = 1024 ** 3;
const options: MigrationOptions = {
  completionTimeoutPerGiB: 100,
  progressTimeout: 50,
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  unsafe: false,
};
const limits = (changes: Partial<MigrationOptions> = {}, size = 2 * GIB) => ({
  options: { ...options, ...changes },
  size,
});
const progress = (elapsedMs: number, remainingBytes = 1, mode: MigrationMode = 'PreCopy', iterations = 1) => ({
  mode,
  elapsedMs,
  totalBytes: GIB,
  processedBytes: 0,
  remainingBytes,
  iterations,
});
const fresh = startWatch(0);

test.each([
  { what: 'by size', size: 3 * GIB, mode: 'PreCopy' as const, expected: 300_000 },
  { what: 'at least for one GiB', size: 1, mode: 'PreCopy' as const, expected: 100_000 },
  { what: 'twice for a paused guest', size: 2 * GIB, mode: 'Paused' as const, expected: 400_000 },
])('time allowed: $what', ({ size, mode, expected }) => {
  expect(allowedMs(limits({}, size), mode)).toBe(expected);
});

const late = 200_001;
test.each([
  { what: 'in time', at: progress(200_000), changes: {}, expected: 'wait' },
  { what: 'late', at: progress(late), changes: {}, expected: 'timeout' },
  { what: 'late, no limit', at: progress(late), changes: { completionTimeoutPerGiB: 0 }, expected: 'wait' },
  {
    what: 'late, the guest may be disturbed',
    at: progress(late),
    changes: { allowWorkloadDisruption: true },
    expected: 'pause',
  },
  {
    what: 'late, post-copy allowed',
    at: progress(late),
    changes: { allowPostCopy: true, allowWorkloadDisruption: true },
    expected: 'restart',
  },
  { what: 'paused for it, in its second time', at: progress(late, 1, 'Paused'), changes: {}, expected: 'wait' },
  {
    what: 'paused for it, late',
    at: progress(400_001, 1, 'Paused'),
    changes: { allowWorkloadDisruption: true },
    expected: 'timeout',
  },
  { what: 'post-copy, first pass', at: progress(10, 1, 'PostCopy'), changes: {}, expected: 'wait' },
  { what: 'post-copy, first pass over', at: progress(10, 1, 'PostCopy', 2), changes: {}, expected: 'switch' },
  { what: 'post-copy, first pass too long', at: progress(late, 1, 'PostCopy'), changes: {}, expected: 'switch' },
])('$what: $expected', ({ at, changes, expected }) => {
  expect(judge(fresh, at, 0, limits(changes)).step).toBe(expected);
});

test('no progress for too long ends it; any new low of what remains counts as progress', () => {
  const first = judge(fresh, progress(1, 100), 1_000, limits());
  expect(judge(first.watch, progress(2, 100), 51_000, limits()).step).toBe('wait');
  expect(judge(first.watch, progress(2, 120), 51_001, limits()).step).toBe('timeout');
  expect(judge(first.watch, progress(2, 120), 51_001, limits({ progressTimeout: 0 })).step).toBe('wait');
  const lower = judge(first.watch, progress(2, 99), 51_001, limits());
  expect(lower.step).toBe('wait');
  expect(judge(lower.watch, progress(3, 99), 101_002, limits()).step).toBe('timeout');
});
