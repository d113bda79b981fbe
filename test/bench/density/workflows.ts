import type { Client } from '@temporalio/client';

/** What workflows of one type took on average. */
export interface WorkflowCost {
  type: string;
  /** How many were looked at. */
  count: number;
  events: number;
  workflowTasks: number;
  activities: number;
  /** Local activities among them. */
  markers: number;
  signals: number;
  timers: number;
}

const KINDS = {
  workflowTasks: 'workflowTaskCompleted',
  activities: 'activityTaskScheduled',
  markers: 'markerRecorded',
  signals: 'workflowExecutionSignaled',
  timers: 'timerStarted',
} as const;

/** Which attributes an event has tells what it is. */
const kindOf = (event: object): string =>
  Object.keys(event)
    .find((key) => key.endsWith('EventAttributes'))
    ?.replace('EventAttributes', '') ?? '';

/** The averages of what histories hold. */
export const costOfHistories = (type: string, histories: readonly (readonly string[])[]): WorkflowCost => {
  const average = (of: (events: readonly string[]) => number): number =>
    histories.reduce((sum, events) => sum + of(events), 0) / Math.max(1, histories.length);
  const counted = (kind: string) => average((events) => events.filter((event) => event === kind).length);
  return {
    ...{ type, count: histories.length, events: average((events) => events.length) },
    workflowTasks: counted(KINDS.workflowTasks),
    activities: counted(KINDS.activities),
    markers: counted(KINDS.markers),
    signals: counted(KINDS.signals),
    timers: counted(KINDS.timers),
  };
};

/** Looks at some workflows of each type that began since a time. */
export async function workflowCosts(
  client: Client,
  types: readonly string[],
  since: Date,
  samples: number,
): Promise<WorkflowCost[]> {
  const costs: WorkflowCost[] = [];
  for (const type of types) {
    const histories: string[][] = [];
    const query = `WorkflowType = "${type}" AND StartTime >= "${since.toISOString()}"`;
    for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: samples })) {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      histories.push((events ?? []).map(kindOf));
      if (histories.length === samples) break;
    }
    costs.push(costOfHistories(type, histories));
  }
  return costs;
}
