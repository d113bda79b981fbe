import { setTimeout as pause } from 'node:timers/promises';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { Client } from '@temporalio/client';
import {
  ApplicationFailure,
  ServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isGrpcServiceError,
} from '@temporalio/client';
import type { TriggerRefusal } from '../api/contract/triggers.ts';
import { TriggerError } from './errors.ts';

/** Codes with which the connection says that nobody answers: Temporal is down, or no worker took the question. */
const NOBODY: readonly number[] = [
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.UNAVAILABLE,
  grpcStatus.CANCELLED,
  grpcStatus.FAILED_PRECONDITION,
];

/** The VM's workflow has just begun, and cannot say yet. */
const isTooEarly = (error: unknown): boolean =>
  error instanceof WorkflowUpdateFailedError &&
  error.cause instanceof ApplicationFailure &&
  error.cause.type === ('NotYet' satisfies TriggerRefusal['type']);

export const isNoAnswer = (error: unknown): boolean => {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && NOBODY.includes(cause.code);
};

/** A question may be lost when its workflow begins a new run at that moment: it is put again after so many ms. */
const ASK_AGAIN_MS = 3_000;
const PAUSE_MS = 200;

/**
 * Asks something that is answered at once if anybody is there, and that may be asked again. @throws TriggerError NoAnswer; whatever else `ask` throws
 */
export const answering = async <T>(client: Client, withinMs: number, ask: () => Promise<T>): Promise<T> => {
  const until = Date.now() + withinMs;
  for (;;) {
    try {
      return await client.withDeadline(Math.min(Date.now() + ASK_AGAIN_MS, until), ask);
    } catch (error) {
      const isEarly = isTooEarly(error);
      if (!isEarly && !isNoAnswer(error)) throw error;
      if (Date.now() < until) {
        await pause(PAUSE_MS);
        continue;
      }
      const why = isEarly
        ? 'the VM was still being looked at: does the API server answer?'
        : 'is Temporal reachable, and does the controller worker run?';
      throw new TriggerError('NoAnswer', `no answer within ${withinMs / 1000} s: ${why} Ask again with the same key.`, {
        cause: error,
      });
    }
  }
};
