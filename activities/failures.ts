import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { FailureType } from '../api/contract/failures.ts';
import { FAILURES } from '../api/contract/failures.ts';
import { isNotFound } from './kube/errors.ts';
import { KubeError } from './kube/port.ts';

/** A failure of the closed set. Retryable or not is looked up there. */
export const failure = (type: FailureType, message: string, cause?: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    type,
    message,
    nonRetryable: !FAILURES[type].retryable,
    ...(cause instanceof Error ? { cause } : {}),
  });

const ENFORCE_LABEL = 'pod-security.kubernetes.io/enforce=privileged';

/** Texts of the API server's admission that tell causes of a 403 apart (its machine-readable reason is always Forbidden). */
const REFUSALS: { text: RegExp; type: FailureType; remedy: string }[] = [
  {
    text: /exceeded quota|failed quota/,
    type: 'QuotaExceeded',
    remedy: 'Raise the ResourceQuota or free resources in the namespace; the start is tried again.',
  },
  {
    text: /violates PodSecurity/,
    type: 'Forbidden',
    remedy: `Launcher Pods fit "restricted" unless the VMI has a hostDisk: use a claim instead, or label the namespace ${ENFORCE_LABEL}.`,
  },
  {
    text: /is being terminated/,
    type: 'Forbidden',
    remedy: 'The namespace is being deleted; nothing new can be created in it.',
  },
  {
    text: / cannot (get|list|watch|create|update|patch|delete) resource /,
    type: 'NotAuthorized',
    remedy: "virtflow's role lacks this permission: apply deploy/ of this release again; it is tried again.",
  },
];

const fromKube = (error: KubeError, context: string): ApplicationFailure => {
  const message = `${context}: ${error.message}`;
  const refusal = REFUSALS.find(({ text }) => text.test(error.message));
  if (error.status === 403) {
    return refusal === undefined
      ? failure('Forbidden', `${message}. Ask who runs the cluster's admission policies.`, error)
      : failure(refusal.type, `${message}. ${refusal.remedy}`, error);
  }
  if (error.message.includes('admission webhook') && error.status >= 400 && error.status < 500) {
    return failure('Forbidden', message, error);
  }
  if (isNotFound(error)) return failure('ObjectGone', message, error);
  if (error.status === 422 || error.status === 400) return failure('InvalidSpec', message, error);
  return surprise(message, error, error.status === 409);
};

/** Not of the closed set: stays retryable. `expected` keeps it out of warnings and metrics (a lost race for a write). */
const surprise = (message: string, cause: unknown, expected = false): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'Unknown',
    message,
    nonRetryable: false,
    ...(expected ? { category: ApplicationFailureCategory.BENIGN } : {}),
    ...(cause instanceof Error ? { cause } : {}),
  });

/**
 * The one translation of whatever an activity throws into what Temporal carries. `context` says what was being done, on which object.
 * Failures that are Temporal's already (ours, cancellation) pass unchanged.
 */
export const toFailure = (error: unknown, context: string): Error => {
  if (error instanceof TemporalFailure) return error;
  // Thrown by the SDK to mean something; never to be wrapped.
  if (error instanceof Error && error.name === 'CompleteAsyncError') return error;
  if (error instanceof KubeError) return fromKube(error, context);
  return surprise(`${context}: ${error instanceof Error ? error.message : String(error)}`, error);
};

type Activity = (input: never) => Promise<unknown>;

/** The activities with every error translated; the context is the activity's name. */
export const withFailures = <T extends object>(activities: T): T =>
  Object.fromEntries(
    Object.entries(activities).map(([name, run]) => [
      name,
      async (input: never): Promise<unknown> => {
        try {
          return await (run as Activity)(input);
        } catch (error) {
          throw toFailure(error, name);
        }
      },
    ]),
  ) as T;
