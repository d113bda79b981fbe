import { expect, test } from '@jest/globals';
import { countJest, countOne, summary, sum } from '../../../../../deploy/local/commands/test-counts.ts';

const report = (numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number) => ({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
  testResults: [] as object[],
});
const suite = (message: string, ...assertionResults: object[]) => ({
  ...{ name: '/somewhere/test/unit/a.test.ts', status: 'failed', message },
  assertionResults,
});
const passedTest = { fullName: 'it boots', status: 'passed', failureMessages: [] };
const failedTest = {
  ...{ fullName: 'it moves', status: 'failed' },
  failureMessages: [
    '\n\u001b[31mError: the target is gone\u001b[39m\n\n  - Expected\n  + "two guests"\n    at somewhere',
  ],
};

test.each([
  ['all passed', report(7, 0, 0), 0, { passed: 7, failed: 0 }],
  ['a failed test', report(6, 1, 0), 1, { passed: 6, failed: 1 }],
  ['a suite that could not be loaded counts as a failure', report(6, 0, 1), 1, { passed: 6, failed: 1 }],
  ['a bad exit without a named failure counts as one', report(6, 0, 0), 1, { passed: 6, failed: 1 }],
  ['no report at all counts as one failure', undefined, 1, { passed: 0, failed: 1 }],
  ['no report is a failure even after a clean exit', {}, 0, { passed: 0, failed: 1 }],
])('%s', (_, json, exitCode, counts) => {
  expect(countJest('unit', json, exitCode)).toMatchObject(counts);
});

test('each failure is named with why, without its stack, and so is a suite that could not be loaded', () => {
  const testResults = [suite('a lot', passedTest, failedTest), suite('  cannot find module x\n  at y')];
  expect(countJest('unit', { ...report(1, 1, 1), testResults }, 1).failures).toEqual([
    'a.test.ts › it moves: Error: the target is gone | - Expected | + "two guests"',
    'a.test.ts: cannot find module x',
  ]);
});

test('the last line adds up every section; what failed is named before it', () => {
  const counts = sum([
    countJest('unit', report(3, 0, 0), 0),
    countJest('replay', undefined, 1),
    countOne('lint', true),
    countOne('oracle', false),
  ]);
  expect(summary(counts)).toBe('failed: replay: left no report\nfailed: oracle\n4 passed, 2 failed');
});
