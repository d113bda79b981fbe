import { z } from 'zod';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export const sum = (counts: readonly Counts[]): Counts => ({
  passed: counts.reduce((total, one) => total + one.passed, 0),
  failed: counts.reduce((total, one) => total + one.failed, 0),
});

/** What is read of `jest --json`. */
const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
});

/**
 * Counts one run of Jest: a suite that could not even be loaded counts as one failure, and so does a run that left
 * no report or that ended badly without naming a failure.
 */
export function countJest(json: unknown, exitCode: number): Counts {
  const parsed = report.safeParse(json);
  if (!parsed.success) return { passed: 0, failed: 1 };
  const failed = parsed.data.numFailedTests + parsed.data.numRuntimeErrorTestSuites;
  return { passed: parsed.data.numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/** The last line of `./dev test`. */
export const summary = ({ passed, failed }: Counts): string => `${passed} passed, ${failed} failed`;
