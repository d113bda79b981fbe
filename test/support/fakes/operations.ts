import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type {
  OperationResult,
  OperationStatus,
  ShutdownInput,
  StartInput,
  StepRecord,
} from '../../../api/contract/operations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import { instanceId, shutdownId, startId } from '../../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../../api/contract/task-queues.ts';
import { until } from '../until.ts';
import type { Lab } from './lab.ts';

/** A VMI in the lab's world, with a uid of its own. */
export const newVmi = (lab: Lab, name = 'vm-a'): ObjectRef => {
  const vmi = { namespace: 'default', name, uid: randomUUID() };
  lab.world.createVmi(vmi);
  return vmi;
};

export type Operation = WorkflowHandle<() => Promise<OperationResult>>;

export const start = (lab: Lab, vmi: ObjectRef, input: Partial<StartInput> = {}): Promise<Operation> =>
  begin(lab, WORKFLOWS.startInstance, startId(vmi, input.attempt ?? 1), { ...base(vmi), ...input });

export const shutdown = async (
  lab: Lab,
  vmi: ObjectRef,
  input: Pick<ShutdownInput, 'pod'> & Partial<ShutdownInput>,
): Promise<Operation> =>
  begin(lab, WORKFLOWS.shutdownInstance, shutdownId(vmi, input.attempt ?? 1), {
    ...base(vmi),
    cause: 'deleted',
    deadline: await deadlineIn(lab, 30),
    ...input,
  });

/** RFC 3339, in the lab's time. */
export const deadlineIn = async (lab: Lab, seconds: number): Promise<string> =>
  new Date((await lab.env.currentTimeMs()) + seconds * 1000).toISOString();

const base = (vmi: ObjectRef) => ({ entity: instanceId(vmi), vmi, attempt: 1 });

const begin = async (lab: Lab, type: string, workflowId: string, input: object): Promise<Operation> => {
  lab.tellOperation(workflowId);
  return lab.env.client.workflow.start(type, { workflowId, taskQueue: CONTROLLER_QUEUE, args: [input] });
};

/** Cancels an operation while one of its activities runs, and waits until the operation has taken note. */
export const cancelled = async (lab: Lab, workflowId: string): Promise<void> => {
  const operation = lab.env.client.workflow.getHandle(workflowId);
  await operation.cancel();
  await lab.until('the cancellation is taken note of', async () => {
    const { events = [] } = await operation.fetchHistory();
    const asked = events?.findIndex((event) => event.workflowExecutionCancelRequestedEventAttributes != null) ?? -1;
    return asked >= 0 && events?.slice(asked).some((event) => event.workflowTaskCompletedEventAttributes != null);
  });
};

/** Waits until an operation is at a step. */
export const untilStep = (operation: Operation, name: string, state?: StepRecord['state']): Promise<StepRecord> => {
  let steps: StepRecord[] = [];
  const isThere = async (): Promise<StepRecord | undefined> => {
    ({ steps } = await operation.query<OperationStatus>('operationStatus'));
    const step = steps.findLast((one) => one.name === name);
    return state === undefined || step?.state === state ? step : undefined;
  };
  return until(`step ${name} ${state ?? ''}`, isThere, { seen: () => steps });
};

/**
 * Waits until a step that waits has minutes to its next round. What ends a wait must not meet the end of its timer: the test server loses the workflow
 * task that cancels a timer which fires at that moment.
 */
export const untilLongWait = async (lab: Lab, operation: Operation, name: string): Promise<StepRecord> => {
  await untilStep(operation, name, 'waiting');
  await lab.env.sleep('5m');
  return untilStep(operation, name, 'waiting');
};

/** A VMI whose domain runs. */
export const runningVmi = async (lab: Lab): Promise<{ vmi: ObjectRef; pod: PodRef; epoch: number }> => {
  const vmi = newVmi(lab);
  const { pod, epoch } = await (await start(lab, vmi)).result();
  if (pod === undefined || epoch === undefined) throw new Error('the start named no Pod');
  return { vmi, pod, epoch };
};

/** How an operation ended: its result, or the status that its failure carries. */
export const outcome = async (operation: Operation): Promise<OperationStatus | OperationResult> => {
  try {
    return await operation.result();
  } catch (error) {
    return statusOf(error);
  }
};

/** The OperationStatus in the details of a failed operation's failure. @throws the error itself if it is not one */
export const statusOf = (error: unknown): OperationStatus => {
  const details = (error as { cause?: { details?: unknown[] } }).cause?.details;
  // Other failures have details too: a call that came too late has a text.
  if (typeof details?.[0] !== 'object') throw error;
  return details[0] as OperationStatus;
};
