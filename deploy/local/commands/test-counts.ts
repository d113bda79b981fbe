import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** What failed, a line each: where, which test, and why. */
  readonly failures: readonly string[];
}

export const sum = (counts: readonly Counts[]): Counts => ({
  passed: counts.reduce((total, one) => total + one.passed, 0),
  failed: counts.reduce((total, one) => total + one.failed, 0),
  failures: counts.flatMap(({ failures }) => failures),
});

/** A check that is no run of Jest: it passed or it failed. */
export const countOne = (name: string, isGood: boolean): Counts =>
  isGood ? { passed: 1, failed: 0, failures: [] } : { passed: 0, failed: 1, failures: [name] };

/** What is read of `jest --json`. */
const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

type Suite = z.infer<typeof report>['testResults'][number];

/**
 * Counts one run of Jest: a suite that could not even be loaded counts as one failure, and so does a run that left
 * no report or that ended badly without naming a failure.
 */
export function countJest(project: string, json: unknown, exitCode: number): Counts {
  const parsed = report.safeParse(json);
  if (!parsed.success) return countOne(`${project}: left no report`, false);
  const { numPassedTests: passed, numFailedTests, numRuntimeErrorTestSuites, testResults } = parsed.data;
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  const failures = testResults.flatMap(failuresOf);
  if (failed > 0 || exitCode === 0) return { passed, failed, failures };
  return { passed, failed: 1, failures: [`${project}: ended with exit code ${exitCode}`] };
}

const failuresOf = ({ name, status, message, assertionResults }: Suite): string[] => {
  const failed = assertionResults.filter((one) => one.status === 'failed');
  if (failed.length === 0) return status === 'failed' ? [`${basename(name)}: ${firstLine(message)}`] : [];
  return failed.map((one) => `${basename(name)} › ${one.fullName}: ${reason(one.failureMessages[0] ?? '')}`);
};

const linesOf = (text: string): string[] =>
  stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const firstLine = (text: string): string => linesOf(text)[0] ?? '';

const REASON_LENGTH = 500;

/** What was expected and what came, without the stack, in one line. */
const reason = (text: string): string => {
  const lines = linesOf(text);
  const stack = lines.findIndex((line) => line.startsWith('at '));
  return lines
    .slice(0, stack === -1 ? undefined : stack)
    .join(' | ')
    .slice(0, REASON_LENGTH);
};

/** The end of `./dev test`: what failed, and as the last line how much. */
export const summary = ({ passed, failed, failures }: Counts): string =>
  [...failures.map((failure) => `failed: ${failure}`), `${passed} passed, ${failed} failed`].join('\n');
