import type { TestWorkflowEnvironment } from '@temporalio/testing';
import proto from '@temporalio/proto';
import type { temporal } from '@temporalio/proto';

type Event = temporal.api.history.v1.IHistoryEvent;
const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;
type Timestamp = Event['eventTime'];

/** Workflows that are shown of those that have ended, the youngest first, and events of each, the last ones. */
const WORKFLOWS = 6;
const EVENTS = 12;

/** What the youngest workflows of a server do, and those that are open, for the message of a test that waited in vain. */
export const storyOf = async (env: TestWorkflowEnvironment): Promise<string> => {
  const [open, closed] = await Promise.all([openOf(env), executionsOf(env, 'closed')]);
  const youngest = closed.sort((a, b) => msOf(b.startTime) - msOf(a.startTime)).slice(0, WORKFLOWS);
  const now = new Date(await env.currentTimeMs()).toISOString();
  const stories = [...open, ...youngest].map(async (info) => {
    const events = await eventsOf(env, info);
    const last = events.slice(-EVENTS).map((event) => `  ${timeOf(event.eventTime)} ${inWords(event)}`);
    const isOpen = info.status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
    return [
      `${info.execution?.workflowId ?? ''} (${isOpen ? 'open' : 'closed'})`,
      ...(isOpen ? pendingOf(events).map((event) => `  not answered: ${inWords(event)}`) : []),
      ...last,
    ].join('\n');
  });
  return [`now it is ${now}`, ...(await Promise.all(stories))].join('\n');
};

/** How far the open workflows are, and whether something of them is on its way, which is what a server holds time still for. */
export const progressOf = async (env: TestWorkflowEnvironment): Promise<{ events: number; isBusy: boolean }> => {
  const open = await openOf(env);
  const histories = await Promise.all(open.map((info) => eventsOf(env, info)));
  return {
    events: histories.reduce((sum, { length }) => sum + length, 0),
    isBusy: histories.some((events) => pendingOf(events).length > 0),
  };
};

/** The test server knows no other lists than these two. */
const executionsOf = async (
  { connection, namespace = 'default' }: TestWorkflowEnvironment,
  which: 'open' | 'closed',
) => {
  const startTimeFilter = { earliestTime: { seconds: 0 }, latestTime: { seconds: Number.MAX_SAFE_INTEGER } };
  const request = { namespace, startTimeFilter } as object;
  const { workflowService } = connection;
  const { executions } = await (which === 'open'
    ? workflowService.listOpenWorkflowExecutions(request)
    : workflowService.listClosedWorkflowExecutions(request));
  return executions;
};

/**
 * Of a run that has continued as new the server may keep listing it as open, with its last task under way for ever: when something else met that task, it
 * loses what the task has done to the old run. What counts is the youngest run of a workflow.
 */
const openOf = async (env: TestWorkflowEnvironment): Promise<Info[]> => {
  const [open, closed] = await Promise.all([executionsOf(env, 'open'), executionsOf(env, 'closed')]);
  const isPast = (run: Info): boolean =>
    [...open, ...closed].some(
      (other) =>
        other.execution?.workflowId === run.execution?.workflowId && msOf(other.startTime) > msOf(run.startTime),
    );
  return open.filter((run) => !isPast(run));
};

type Info = Awaited<ReturnType<typeof executionsOf>>[number];

const eventsOf = async ({ client }: TestWorkflowEnvironment, { execution }: Info): Promise<Event[]> => {
  const { workflowId, runId } = execution ?? {};
  const { events } = await client.workflow.getHandle(workflowId ?? '', runId ?? undefined).fetchHistory();
  return events ?? [];
};

/** What a task, or a message to another workflow, begins with. */
const BEGINNINGS = [
  'workflowTaskScheduled',
  'activityTaskScheduled',
  'signalExternalWorkflowExecutionInitiated',
  'startChildWorkflowExecutionInitiated',
];

/** What was begun and has no end or answer yet. */
const pendingOf = (events: Event[]): Event[] => {
  const ended = new Set(events.map(endedBy));
  return events.filter((event) => BEGINNINGS.includes(kindOf(event)[0]) && !ended.has(Number(event.eventId)));
};

/** Id of the event whose end this one is. */
const endedBy = (event: Event): number | undefined => {
  const [kind, { scheduledEventId, initiatedEventId }] = kindOf(event);
  const id = scheduledEventId ?? initiatedEventId;
  return id == null || kind.endsWith('TaskStarted') ? undefined : Number(id);
};

const timeOf = (time: Timestamp): string => new Date(msOf(time)).toISOString();
const msOf = (time: Timestamp): number => Number(time?.seconds ?? 0) * 1000 + Number(time?.nanos ?? 0) / 1e6;

interface Attributes {
  signalName?: string | null;
  activityType?: { name?: string | null } | null;
  workflowExecution?: { workflowId?: string | null } | null;
  workflowId?: string | null;
  failure?: { message?: string | null } | null;
  scheduledEventId?: unknown;
  initiatedEventId?: unknown;
}

const kindOf = (event: Event): [kind: string, attributes: Attributes] => {
  const [key = '', attributes = {}] = Object.entries(event).find(([name]) => name.endsWith('EventAttributes')) ?? [];
  return [key.replace('EventAttributes', ''), attributes as Attributes];
};

/** `activityTaskScheduled publishInstance` */
const inWords = (event: Event): string => {
  const [kind, { signalName, activityType, workflowExecution, workflowId, failure }] = kindOf(event);
  const more = [signalName, activityType?.name, workflowExecution?.workflowId ?? workflowId, failure?.message];
  return [kind, ...more.filter((one) => one)].join(' ');
};
