import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { FailureInfo } from '../api/contract/failures.ts';
import { isFailureType } from '../api/contract/failures.ts';
import type { OperationStatus, StepRecord } from '../api/contract/operations.ts';
import { operationStatus } from '../api/contract/operations.ts';
import type { TriggerResult } from '../api/contract/triggers.ts';
import { answering, isNoAnswer } from './answering.ts';
import { TriggerError } from './errors.ts';

/** How an operation ended. A failure is an answer, not an exception: its message says why the VM is not as it was asked to be. */
export type TriggerOutcome =
  | ({ outcome: 'succeeded' } & Pick<TriggerResult, 'message' | 'instance' | 'node' | 'vmim' | 'retried' | 'steps'>)
  | { outcome: 'failed'; failure: FailureInfo; steps: StepRecord[] };

/** An accepted request. It goes on by itself, whether or not anybody waits for it. */
export interface TriggerOperation {
  /** Workflow id. Keep it to ask for the outcome later, from any process. */
  id: string;
  /** Where it stands: its steps and, while one waits, why and until when. @throws TriggerError OperationNotFound, NoAnswer */
  status(): Promise<OperationStatus>;
  /**
   * Waits until it is over, also while Temporal is away.
   * @param options.signal ends the waiting, not the operation
   * @throws TriggerError OperationNotFound; the signal's reason
   */
  outcome(options?: { signal?: AbortSignal }): Promise<TriggerOutcome>;
}

/** How long an operation may take from its acceptance until Temporal knows it, in ms. */
const APPEARS_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 500;

export const operationOf = (client: Client, id: string, answerWithinMs: number): TriggerOperation => {
  const handle = client.workflow.getHandle<() => Promise<TriggerResult>>(id);
  return {
    id,
    status: () => present(id, () => answering(client, answerWithinMs, () => handle.query(operationStatus))),
    outcome: async ({ signal } = {}) => {
      const end = () => present(id, () => handle.result(), signal);
      try {
        return succeeded(await (signal === undefined ? end() : client.withAbortSignal(signal, end)));
      } catch (error) {
        signal?.throwIfAborted();
        return failed(error);
      }
    },
  };
};

/** Asks again while the operation has not appeared yet, and while nobody answers a question that may take long. */
const present = async <T>(id: string, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
  const since = Date.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      const isMissing = error instanceof WorkflowNotFoundError;
      if (isMissing && Date.now() - since > APPEARS_WITHIN_MS)
        throw new TriggerError('OperationNotFound', `Temporal knows no operation ${id}.`, { cause: error });
      if (!isMissing && !isNoAnswer(error)) throw error;
    }
    await pause(ASK_AGAIN_MS, undefined, signal === undefined ? {} : { signal });
  }
};

const succeeded = ({ message, instance, node, vmim, retried, steps }: TriggerResult): TriggerOutcome => ({
  ...{ outcome: 'succeeded', message, steps },
  ...(instance === undefined ? {} : { instance }),
  ...(node === undefined ? {} : { node }),
  ...(vmim === undefined ? {} : { vmim }),
  ...(retried === undefined ? {} : { retried }),
});

/** @throws what is no end of an operation */
const failed = (error: unknown): TriggerOutcome => {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) {
    const message = `the operation was ended from outside: ${cause?.message ?? error.message}`;
    return { outcome: 'failed', failure: { type: 'Cancelled', message }, steps: [] };
  }
  const [status] = (cause.details ?? []) as OperationStatus[];
  const type = isFailureType(cause.type) ? cause.type : 'Unknown';
  return { outcome: 'failed', failure: { type, message: cause.message }, steps: status?.steps ?? [] };
};
