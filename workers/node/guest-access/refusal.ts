import { ApplicationFailure } from '@temporalio/common';
import { KubeError } from '../../../activities/kube/port.ts';
import type { FailureType } from '../../../api/contract/failures.ts';

/** What somebody who wants to reach a guest is told: the code (HTTP) and the words that a user of the subresource API gets. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

const STATUS: Partial<Record<FailureType, number>> = {
  ObjectGone: 409,
  PodFailed: 409,
  // The launcher's word for a state that forbids the command.
  StaleToken: 409,
  DomainRejected: 400,
  LauncherTooOld: 501,
  LauncherUnreachable: 503,
};

/** Anything that went wrong as a refusal; a surprise is a 500. */
export const toRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof KubeError) return new Refusal(503, `the API server: ${message}`, error);
  const type = error instanceof ApplicationFailure ? error.type : undefined;
  return new Refusal(STATUS[type as FailureType] ?? 500, message, error);
};
