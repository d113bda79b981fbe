import { expect, test } from '@jest/globals';
import { countJest, summary, sum } from '../../../../../deploy/local/commands/test-counts.ts';

const report = (numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number) => ({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
});

test.each([
  ['all passed', report(7, 0, 0), 0, { passed: 7, failed: 0 }],
  ['a failed test', report(6, 1, 0), 1, { passed: 6, failed: 1 }],
  ['a suite that could not be loaded counts as a failure', report(6, 0, 1), 1, { passed: 6, failed: 1 }],
  ['a bad exit without a named failure counts as one', report(6, 0, 0), 1, { passed: 6, failed: 1 }],
  ['no report at all counts as one failure', undefined, 1, { passed: 0, failed: 1 }],
  ['no report is a failure even after a clean exit', {}, 0, { passed: 0, failed: 1 }],
])('%s', (_, json, exitCode, counts) => {
  expect(countJest(json, exitCode)).toEqual(counts);
});

test('the last line adds up every section', () => {
  const counts = sum([countJest(report(3, 0, 0), 0), countJest(report(2, 1, 1), 1)]);
  expect(summary(counts)).toBe('5 passed, 2 failed');
});
