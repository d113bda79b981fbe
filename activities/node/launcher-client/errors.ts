import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { FailureType } from '../../../api/contract/failures.ts';
import { failure } from '../../failures.ts';

/** What the launcher's answer means. Codes that are not listed stay surprises, hence retryable. */
const MEANING: Partial<Record<status, FailureType>> = {
  [status.UNAVAILABLE]: 'LauncherUnreachable',
  [status.DEADLINE_EXCEEDED]: 'LauncherUnreachable',
  // By the other side, which is going away.
  [status.CANCELLED]: 'LauncherUnreachable',
  [status.UNIMPLEMENTED]: 'LauncherTooOld',
  [status.FAILED_PRECONDITION]: 'StaleToken',
  [status.INVALID_ARGUMENT]: 'DomainRejected',
  [status.INTERNAL]: 'DomainFailed',
  [status.ABORTED]: 'DomainFailed',
  [status.RESOURCE_EXHAUSTED]: 'DomainFailed',
};

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;

/** The failure that a refused or lost call amounts to; `what` names the command and the Pod. */
export const fromLauncher = (error: unknown, what: string): Error => {
  if (error instanceof TemporalFailure) return error;
  if (!isServiceError(error)) {
    return failure('LauncherUnreachable', `${what}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  const message = `${what}: ${error.details || error.message}`;
  const type = MEANING[error.code];
  if (type !== undefined) return failure(type, message, error);
  return ApplicationFailure.create({ type: 'Unknown', message, cause: error });
};

export const isUnreachable = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.type === ('LauncherUnreachable' satisfies FailureType);
