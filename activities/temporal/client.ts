import type { Client } from '@temporalio/client';
import { WorkflowIdReusePolicy, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { keywords } from '../../api/contract/keywords.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { PRIORITIES } from '../../api/contract/priorities.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { WorkflowPort } from './port.ts';

/** WorkflowPort over Temporal's client. @throws whatever keeps Temporal from answering */
export const workflowClient = (client: Client): WorkflowPort => ({
  async signalWithStart({ workflow, workflowId, args, signal, signalArgs, summary, attributes = {}, ...how }) {
    const { againAfterCompletion = false } = how;
    const start = client.workflow.signalWithStart(workflow, {
      ...{ workflowId, args, signal, signalArgs, taskQueue: CONTROLLER_QUEUE, staticSummary: summary },
      ...(workflow === WORKFLOWS.virtualMachine ? { priority: { priorityKey: PRIORITIES.virtualMachine } } : {}),
      typedSearchAttributes: keywords(attributes),
      workflowIdReusePolicy: againAfterCompletion
        ? WorkflowIdReusePolicy.ALLOW_DUPLICATE
        : WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    });
    await start.catch(unless(WorkflowExecutionAlreadyStartedError));
  },
  async signal(workflowId, signal, args) {
    await client.workflow
      .getHandle(workflowId)
      .signal(signal, ...args)
      .catch(unless(WorkflowNotFoundError));
  },
  async isRunning(workflowId) {
    const description = await client.workflow.getHandle(workflowId).describe().catch(unless(WorkflowNotFoundError));
    return description?.status.name === 'RUNNING';
  },
  query: (workflowId, query) =>
    client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.getHandle(workflowId).query<never, []>(query).catch(unless(WorkflowNotFoundError)),
    ),
  async update<T>(workflowId: string, update: string, updateId: string) {
    try {
      const ask = () => client.workflow.getHandle(workflowId).executeUpdate<T, []>(update, { updateId });
      return { result: await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask) };
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) return { refusal: error.cause?.message ?? error.message };
      if (error instanceof WorkflowNotFoundError) return { refusal: `workflow ${workflowId} does not run` };
      throw error;
    }
  },
  async lastPolled(queue) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      ...{ namespace: client.options.namespace, taskQueue: { name: queue }, taskQueueType: ACTIVITY_TASKS },
    });
    const seconds = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0));
    const last = Math.max(0, ...seconds);
    return last === 0 ? undefined : new Date(last * 1000).toISOString();
  },
});

/** How long a workflow may take to answer a question, in ms. */
const ANSWER_WITHIN_MS = 4_000;

/** Number of Temporal's TaskQueueType. */
const ACTIVITY_TASKS = 2;

const unless =
  (expected: new (...args: never[]) => Error) =>
  (error: unknown): undefined => {
    if (!(error instanceof expected)) throw error;
    return undefined;
  };
