import type { TestWorkflowEnvironment } from '@temporalio/testing';
import proto from '@temporalio/proto';
import type { temporal } from '@temporalio/proto';

type Event = temporal.api.history.v1.IHistoryEvent;
const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;
type Timestamp = Event['eventTime'];

/** Workflows that are shown, the youngest first, and events of each, the last ones. */
const WORKFLOWS = 6;
const EVENTS = 12;

/** What the youngest workflows of a server do, for the message of a test that waited in vain. The test server knows no other list than these two. */
export const storyOf = async (env: TestWorkflowEnvironment): Promise<string> => {
  const { connection, client, namespace = 'default' } = env;
  const startTimeFilter = { earliestTime: { seconds: 0 }, latestTime: { seconds: Number.MAX_SAFE_INTEGER } };
  const request = { namespace, startTimeFilter } as object;
  const lists = await Promise.all([
    connection.workflowService.listOpenWorkflowExecutions(request),
    connection.workflowService.listClosedWorkflowExecutions(request),
  ]);
  const youngest = lists
    .flatMap(({ executions }) => executions)
    .sort((a, b) => msOf(b.startTime) - msOf(a.startTime))
    .slice(0, WORKFLOWS);
  const now = new Date(await env.currentTimeMs()).toISOString();
  const stories = youngest.map(async ({ execution, status }) => {
    const { workflowId, runId } = execution ?? {};
    const { events } = await client.workflow.getHandle(workflowId ?? '', runId ?? undefined).fetchHistory();
    const last = (events ?? []).slice(-EVENTS).map((event) => `  ${timeOf(event.eventTime)} ${inWords(event)}`);
    return [
      `${workflowId ?? ''} (${status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING ? 'open' : 'closed'})`,
      ...last,
    ].join('\n');
  });
  return [`now it is ${now}`, ...(await Promise.all(stories))].join('\n');
};

const timeOf = (time: Timestamp): string => new Date(msOf(time)).toISOString();
const msOf = (time: Timestamp): number => Number(time?.seconds ?? 0) * 1000 + Number(time?.nanos ?? 0) / 1e6;

interface Named {
  signalName?: string | null;
  activityType?: { name?: string | null } | null;
  workflowExecution?: { workflowId?: string | null } | null;
  workflowId?: string | null;
  failure?: { message?: string | null } | null;
}

/** `activityTaskScheduled publishInstance` */
const inWords = (event: Event): string => {
  const [key = '', attributes] = Object.entries(event).find(([name]) => name.endsWith('EventAttributes')) ?? [];
  const { signalName, activityType, workflowExecution, workflowId, failure } = (attributes ?? {}) as Named;
  const more = [signalName, activityType?.name, workflowExecution?.workflowId ?? workflowId, failure?.message];
  return [key.replace('EventAttributes', ''), ...more.filter((one) => one)].join(' ');
};
