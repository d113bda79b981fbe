import type { ActivityInterfaceFor, ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import {
  ActivityCancellationType,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { ControllerActivities, NodeActivities } from '../../api/contract/activities.ts';
import { CONTROLLER_QUEUE, nodeQueue, urgentNodeQueue } from '../../api/contract/task-queues.ts';
import { WAITS } from '../operation/patience.ts';
import { isDefect, isRetryable, toFailureInfo } from './failures.ts';

/** What `step` waits for anyway is not worth three calls a round. */
const PASSED_ON: string[] = [...WAITS, 'StillRunning', 'Unproven'];

/** Short: up to 3 attempts within 10 s. Longer back-off belongs to `step`, where it is shown and can be ended. */
const SHORT_RETRY: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '500ms',
  maximumInterval: '5s',
  maximumAttempts: 3,
  nonRetryableErrorTypes: PASSED_ON,
};

/** Bookkeeping of entities has to happen some time, whatever is down; it is not part of an operation whose wait one could end. */
const UNTIL_DONE: NonNullable<ActivityOptions['retry']> = { initialInterval: '1s', maximumInterval: '15s' };

/** How long an activity may lie in a node's queue before we say "no worker on node X". */
const TAKEN_WITHIN = '10s';

/** A few requests to the API server. Nobody tells of a worker that was killed: this is how long its activity holds an operation up. */
const CONTROLLER: ActivityOptions = { taskQueue: CONTROLLER_QUEUE, startToCloseTimeout: '15s' };

/**
 * Activities that do not heartbeat cannot be cancelled once they run: they are waited for, and nothing new begins. So what they did is known when it is
 * taken back.
 */
const waitedFor = <T extends object>(activities: T): T =>
  new Proxy(activities, {
    get: (target, name) => {
      const call: unknown = Reflect.get(target, name);
      return (...args: unknown[]): Promise<unknown> => {
        if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled before it began');
        return CancellationScope.nonCancellable(async () =>
          (call as (...input: unknown[]) => Promise<unknown>)(...args),
        );
      };
    },
  });

/** Activities of the controller for a step of an operation; `summary` is what the UI shows. */
export const controllerActivities = (summary: string): ActivityInterfaceFor<ControllerActivities> =>
  waitedFor(proxyActivities<ControllerActivities>({ ...CONTROLLER, retry: SHORT_RETRY, summary }));

/** As long as a workflow hears nothing because a request to the API server hangs. */
const HERE: LocalActivityOptions = { startToCloseTimeout: '3s', retry: { maximumAttempts: 1 } };

/**
 * The same, run once in the worker that runs the workflow, within the same workflow task: most answer in milliseconds, a fraction of what it costs to
 * hand them over a queue. What fails and may pass goes to the queue, where its attempts are shown and wait without the workflow. A workflow task that
 * is lost takes with it what its activities have answered, not what they have done: only for steps that may be done again together with those before
 * them, of a workflow that neither ends nor continues as new while it does them.
 */
export const localActivities = (summary: string): ActivityInterfaceFor<ControllerActivities> =>
  hereFirst(summary, SHORT_RETRY);

const hereFirst = (summary: string, retry: typeof SHORT_RETRY): ActivityInterfaceFor<ControllerActivities> => {
  const queued = proxyActivities<ControllerActivities>({ ...CONTROLLER, retry, summary });
  const here = proxyLocalActivities<ControllerActivities>({ ...HERE, summary });
  return waitedFor(
    new Proxy(here, {
      get: (_, name) => {
        const call = (activities: object, args: unknown[]): Promise<unknown> =>
          (Reflect.get(activities, name) as (...input: unknown[]) => Promise<unknown>)(...args);
        return async (...args: unknown[]): Promise<unknown> => {
          try {
            return await call(here, args);
          } catch (error) {
            if (!mayPass(error)) throw error;
            return await call(queued, args);
          }
        };
      },
    }),
  );
};

const mayPass = (error: unknown): boolean => {
  if (isCancellation(error) || isDefect(error)) return false;
  const failure = toFailureInfo(error);
  return isRetryable(error, failure) && !PASSED_ON.includes(failure.type);
};

/** Activities of the controller for an entity's own bookkeeping. */
export const bookkeeping = (summary: string): ActivityInterfaceFor<ControllerActivities> =>
  waitedFor(proxyActivities<ControllerActivities>({ ...CONTROLLER, retry: UNTIL_DONE, summary }));

/** The same, first tried as localActivities are. What an entity does so says nothing new if it is done again (docs/adr/0029). */
export const localBookkeeping = (summary: string): ActivityInterfaceFor<ControllerActivities> =>
  hereFirst(summary, UNTIL_DONE);

const ON_NODE: ActivityOptions = {
  scheduleToStartTimeout: TAKEN_WITHIN,
  startToCloseTimeout: '30s',
  retry: SHORT_RETRY,
};

/** Activities of a node's worker. */
export const nodeActivities = (node: string, summary: string): ActivityInterfaceFor<NodeActivities> =>
  waitedFor(proxyActivities<NodeActivities>({ ...ON_NODE, taskQueue: nodeQueue(node), summary }));

/** For what may copy images: as long as it needs, as long as it heartbeats. */
export const longNodeActivities = (node: string, summary: string): ActivityInterfaceFor<NodeActivities> =>
  proxyActivities<NodeActivities>({
    ...ON_NODE,
    taskQueue: nodeQueue(node),
    summary,
    startToCloseTimeout: '30 minutes',
    heartbeatTimeout: '20s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });

/**
 * Questions and orders that a decision waits for, on the node's second queue: a worker or launcher that is frozen must not hold it up for longer than a
 * few seconds.
 */
export const promptNodeActivities = (node: string, summary: string): ActivityInterfaceFor<NodeActivities> =>
  waitedFor(
    proxyActivities<NodeActivities>({
      ...{ taskQueue: urgentNodeQueue(node), summary },
      ...{ scheduleToStartTimeout: '5s', startToCloseTimeout: '5s' },
      // Who asks looks again by itself.
      retry: { ...SHORT_RETRY, maximumAttempts: 2, nonRetryableErrorTypes: [...PASSED_ON, 'LauncherUnreachable'] },
    }),
  );

/** Longer than any migration may take: its launcher ends it by its own timeouts. */
const MIGRATES_WITHIN = '24 hours';

/**
 * For migrateVMI. One attempt: whatever but a clear answer is resolved first.
 */
export const migratingNodeActivities = (node: string, summary: string): ActivityInterfaceFor<NodeActivities> =>
  proxyActivities<NodeActivities>({
    ...{ ...ON_NODE, taskQueue: nodeQueue(node), summary },
    ...{ startToCloseTimeout: MIGRATES_WITHIN, heartbeatTimeout: '15s', retry: { maximumAttempts: 1 } },
  });

/** On the node's second queue, for what must never wait behind long copies. */
export const urgentNodeActivities = (node: string, summary: string): ActivityInterfaceFor<NodeActivities> =>
  waitedFor(proxyActivities<NodeActivities>({ ...ON_NODE, taskQueue: urgentNodeQueue(node), summary }));
