import { status as grpcStatus } from '@grpc/grpc-js';
import {
  ApplicationFailure,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  isGrpcServiceError,
  type Client,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { isFailureType } from '../../api/contract/failures.ts';
import {
  operationStatus,
  type OperationResult,
  type OperationStatus,
  type StepRecord,
} from '../../api/contract/operations.ts';

export type OperationState = 'running' | 'succeeded' | 'failed' | 'cancelled' | 'terminated' | 'timedOut';

/** What an operation told of itself: a running one when asked, a closed one in its result or in its failure. */
export type Told = OperationResult & Partial<OperationStatus>;

export interface ReadOperation {
  state: OperationState;
  /** Absent: it told nothing. */
  status?: Told;
  /** Why it told nothing. */
  silence?: string;
}

const STATES: Record<string, OperationState> = {
  RUNNING: 'running',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timedOut',
};

/** How long a worker may take to answer a query, in ms: a question is no reason to hang. */
const ANSWER_WITHIN_MS = 5_000;

/** The step at which an operation under way stands: one that waits before one that runs (steps may run side by side). */
export const currentStep = (steps: readonly StepRecord[]): StepRecord | undefined =>
  steps.findLast(({ state }) => state === 'waiting') ??
  steps.findLast(({ state }) => state === 'running') ??
  steps.at(-1);

/** The step that made an operation fail; what is taken back or cleaned up afterwards is no cause. */
export const failedStep = (steps: readonly StepRecord[]): StepRecord | undefined =>
  steps.findLast(({ name, state }) => state === 'failed' && !/^(Undo|Clean up) /.test(name));

/** Asks an operation, or reads what it left. */
export async function readOperation(
  client: Client,
  { workflowId, runId, status: { name } }: Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'status'>,
): Promise<ReadOperation> {
  const state = STATES[name] ?? 'running';
  const handle = client.workflow.getHandle(workflowId, runId);
  if (state === 'running' || state === 'terminated')
    return ask(state, () => asking(client, () => handle.query(operationStatus)));
  try {
    return { state, status: (await handle.result()) as OperationResult };
  } catch (error) {
    const status = failureDetails(error);
    if (!status) return { state, silence: `it ended without telling its steps: ${causeOf(error)}` };
    return { state: status.failure?.type === 'Cancelled' ? 'cancelled' : state, status };
  }
}

/** Puts a query (or the like) with a deadline. */
export const asking = <T>(client: Client, question: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + ANSWER_WITHIN_MS, question);

async function ask(state: OperationState, question: () => Promise<OperationStatus>): Promise<ReadOperation> {
  try {
    return { state, status: await question() };
  } catch (error) {
    const silence = whySilent(error);
    if (silence === undefined) throw error;
    return { state, silence: `it cannot be asked: ${silence}` };
  }
}

/** Codes with which the server says that no worker took the question. */
const NOBODY_ANSWERS: readonly (number | undefined)[] = [
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.FAILED_PRECONDITION,
];

/** Why a query had no answer, if that is an answer in itself; undefined: something else is wrong. */
export function whySilent(error: unknown): string | undefined {
  if (error instanceof QueryNotRegisteredError) return 'its worker is of another release';
  const cause = error instanceof ServiceError ? error.cause : error;
  if (isGrpcServiceError(cause) && NOBODY_ANSWERS.includes(cause.code)) return 'no worker answers';
  return undefined;
}

/** OperationStatus out of a failed operation's details. */
function failureDetails(error: unknown): OperationStatus | undefined {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const [status] = (error.cause.details ?? []) as OperationStatus[];
  if (!status) return undefined;
  const type = isFailureType(error.cause.type) ? error.cause.type : 'Unknown';
  return { ...status, failure: status.failure ?? { type, message: error.cause.message } };
}

const causeOf = (error: unknown): string => {
  const cause = error instanceof WorkflowFailedError ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
};
