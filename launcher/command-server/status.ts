import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { Metadata } from '@grpc/grpc-js';
import { ConversionError } from '../converter/errors.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import type { RefusalKind } from '../domain-manager/refusal.ts';

const codes: Readonly<Record<RefusalKind, status>> = {
  precondition: status.FAILED_PRECONDITION,
  invalid: status.INVALID_ARGUMENT,
  failed: status.ABORTED,
  unavailable: status.UNAVAILABLE,
};

const codeOf = (error: unknown): status => {
  if (error instanceof CommandRefused) return codes[error.kind];
  return error instanceof ConversionError ? status.INVALID_ARGUMENT : status.INTERNAL;
};

const withCode = (code: status, details: string): ServiceError =>
  Object.assign(new Error(details), { code, details, metadata: new Metadata() });

/** The answer to a call that failed: the caller decides by the code, people read the message. */
export const toServiceError = (error: unknown): ServiceError =>
  withCode(codeOf(error), error instanceof Error ? error.message : String(error));

/** A command that this release does not carry out yet. */
export const notYet = (method: string): ServiceError =>
  withCode(status.UNIMPLEMENTED, `${method}: not yet supported by this release of the launcher`);
