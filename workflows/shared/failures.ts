import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow';
import type { FailureInfo, FailureType } from '../../api/contract/failures.ts';
import { FAILURES, isFailureType } from '../../api/contract/failures.ts';

/** Of a failure that workflow code itself finds (a deadline, a Pod that ended); everything else comes from activities. */
export const found = (type: FailureType, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: !FAILURES[type].retryable });

/** What went wrong, in the contract's words. `node`: whose queue the activity waited in. */
export const toFailureInfo = (error: unknown, node?: string): FailureInfo => {
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START') {
    return { type: 'NoWorker', message: noWorker(node) };
  }
  if (cause instanceof ApplicationFailure) {
    return { type: isFailureType(cause.type) ? cause.type : 'Unknown', message: cause.message };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return { type: 'Unknown', message: error instanceof ActivityFailure ? `${error.activityType}: ${message}` : message };
};

const noWorker = (node: string | undefined): string =>
  node === undefined
    ? 'no controller worker takes the activity; check the Deployment of the controller worker.'
    : `no worker on node ${node}; check the node worker's Pod there. It is tried again by itself.`;

/** True if trying again can help: the failure's type says so, and the one who threw it did not say otherwise. */
export const isRetryable = (error: unknown, { type }: FailureInfo): boolean => {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.nonRetryable === true) return false;
  return type === 'Unknown' || FAILURES[type].retryable;
};

/**
 * An error of the code rather than of the world. It must fail the workflow task, which is retried until fixed code comes, and never be taken for a
 * failed step.
 */
export const isDefect = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

export { isCancellation };
