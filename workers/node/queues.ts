import type { WorkerOptions } from '@temporalio/worker';
import { nodeQueue, urgentNodeQueue } from '../../api/contract/task-queues.ts';

type Queue = Required<
  Pick<WorkerOptions, 'taskQueue' | 'maxConcurrentActivityTaskExecutions' | 'activityTaskPollerBehavior'>
>;

const polls = (maximum: number) => ({ type: 'simple-maximum', maximum }) as const;

/**
 * A node's two queues. One poll brings a task and is at once followed by the next, so few are enough; and all nodes together must stay below what a
 * namespace of Temporal's may have open (1200 unless configured: frontend.namespaceCount), or the controller's own polls are refused too.
 */
export const queuesOf = (node: string): Queue[] => [
  { taskQueue: nodeQueue(node), maxConcurrentActivityTaskExecutions: 50, activityTaskPollerBehavior: polls(2) },
  { taskQueue: urgentNodeQueue(node), maxConcurrentActivityTaskExecutions: 20, activityTaskPollerBehavior: polls(1) },
];
