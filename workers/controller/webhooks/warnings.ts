import type { Cause } from '../../../api/validation/index.ts';

/** What is taken but cannot run yet, for kubectl's warnings. */
export const warningsFor = (causes: readonly Cause[]): string[] =>
  causes.map(({ field, message }) => `${field}: ${message}`);
