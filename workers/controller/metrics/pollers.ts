import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { CONTROLLER_QUEUE, nodeQueue, urgentNodeQueue } from '../../../api/contract/task-queues.ts';
import type { Temporal } from '../../shared/temporal.ts';

/** Numbers of Temporal's TaskQueueType. */
const TASK_QUEUE_TYPES = { workflow: 1, activity: 2 } as const;

/** Queues that somebody should poll: the controller's for both kinds of task, and each node's for activities. */
export const expectedQueues = (nodes: string[]): { name: string; type: 'workflow' | 'activity' }[] => [
  { name: CONTROLLER_QUEUE, type: 'workflow' },
  { name: CONTROLLER_QUEUE, type: 'activity' },
  ...nodes.flatMap((node) => [
    { name: nodeQueue(node), type: 'activity' as const },
    { name: urgentNodeQueue(node), type: 'activity' as const },
  ]),
];

/** A gauge of pollers per queue: 0 means that work put there waits. The returned function asks Temporal. */
export const pollerMetrics = (
  register: Registry,
  { connection, namespace }: Pick<Temporal, 'connection' | 'namespace'>,
  nodes: () => string[],
): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'virtflow_task_queue_pollers',
    help: 'Workers that poll a Temporal task queue; 0: work put there waits',
    labelNames: ['queue', 'type'],
    registers: [register],
  });
  return async () => {
    const counted = await Promise.all(
      expectedQueues(nodes()).map(async ({ name, type }) => {
        const { pollers } = await connection.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType: TASK_QUEUE_TYPES[type],
        });
        return { labels: { queue: name, type }, pollers: pollers?.length ?? 0 };
      }),
    );
    // Nodes that are gone leave the metric.
    gauge.reset();
    for (const { labels, pollers } of counted) gauge.set(labels, pollers);
  };
};
