import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { domainReported, instanceObserved, podObserved } from '../../../api/contract/entities.ts';
import { migrationObserved, permitGranted } from '../../../api/contract/migrations.ts';
import { nodeReported } from '../../../api/contract/nodes.ts';
import { WORKFLOWS, domainChanged, podChanged } from '../../../api/contract/operations.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { instanceId, migrationId, virtualMachineId } from '../../../api/contract/refs.ts';
import { CONTROLLER_QUEUE, nodeQueue, urgentNodeQueue } from '../../../api/contract/task-queues.ts';
import type { ControllerActivities, NodeActivities } from '../../../api/contract/activities.ts';
import { workflowClient } from '../../../activities/temporal/client.ts';
import * as server from '../story.ts';
import { bundleWorkflows, timeSkippingEnvironment } from '../temporal.ts';
import { until } from '../until.ts';
import type { Fault } from './faults.ts';
import { faultInjector } from './faults.ts';
import type { News, World } from './world.ts';
import { NODE, newWorld } from './world.ts';

/** A Temporal server that skips time, with workers whose activities act on the world of the test that runs. */
export interface Lab {
  env: TestWorkflowEnvironment;
  world: World;
  fault: Fault | undefined;
  /** History length after which entities continue as new; absent: when the server suggests it. */
  continueAfter: number | undefined;
  /** A new world for a new test; its news go to the workflow with this id, or to the entities. */
  reset(): World;
  /** News of Pods and domains go straight to an operation, as its entity would forward them. */
  tellOperation(workflowId: string): void;
  /** News go to the entities, which the bridge starts if they do not run. */
  tellEntities(): void;
  /** Waits on a condition; what the world is like and what the workflows do instead is told when it does not come. */
  until: typeof until;
  /**
   * Waits until nothing is in flight. A query must not meet the task in which its workflow continues as new: the test server loses it, and the rest of
   * that task.
   */
  idle(): Promise<void>;
  /** Workers of a node; those of NODE run from the beginning. */
  startNode(name: string): Promise<void>;
  close(): Promise<void>;
}

interface LabOptions {
  maxCachedWorkflows?: number;
  /** Other workflows than the shipped ones, or interceptors around them; paths from the repository's root. */
  workflows?: string;
  interceptors?: string[];
}

/** Whatever a workflow asks for is answered. */
const ANSWERED_CANCELS = 'test/support/fakes/answered-cancels.ts';

export const newLab = async (options: LabOptions = {}): Promise<Lab> => {
  const env = await timeSkippingEnvironment();
  const interceptors = [ANSWERED_CANCELS, ...(options.interceptors ?? [])];
  const workflowBundle = await bundleWorkflows(options.workflows, interceptors);
  const inject = faultInjector(() => lab.fault);
  const controller = inject(delegating<ControllerActivities>(newWorld().controller, () => lab.world.controller));
  const node = inject(delegating<NodeActivities>(newWorld().node, () => lab.world.node));
  const stops = [await run(env, { taskQueue: CONTROLLER_QUEUE, workflowBundle, activities: controller }, options)];

  const lab: Lab = {
    env,
    world: newWorld(),
    fault: undefined,
    continueAfter: undefined,
    reset: () => {
      lab.fault = undefined;
      lab.continueAfter = undefined;
      lab.world = newWorld();
      lab.world.triggers.workflows = workflowClient(env.client);
      // Whoever asks gets a permit, unless the test runs a scheduler.
      const { scheduler } = lab.world.migrations;
      scheduler.request = ({ holder }) => unlessGone(() => env.client.workflow.getHandle(holder).signal(permitGranted));
      return lab.world;
    },
    tellOperation: (workflowId) => {
      lab.world.tell = (news) => tellOperation(env.client.workflow.getHandle(workflowId), news);
    },
    tellEntities: () => {
      const { world } = lab;
      world.tell = (news) => tellEntities(lab, news);
      world.tellVm = () => Promise.resolve();
    },
    until: (what, condition, options) => until(what, condition, { seen: () => storyOf(lab), ...options }),
    idle: async () => {
      await lab.until('nothing is in flight', async () => !(await server.progressOf(env)).isBusy);
    },
    startNode: async (name) => {
      const queues = [nodeQueue(name), urgentNodeQueue(name)];
      stops.push(...(await Promise.all(queues.map((taskQueue) => run(env, { taskQueue, activities: node }, {})))));
    },
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await env.teardown();
    },
  };
  await lab.startNode(NODE);
  return lab;
};

const storyOf = async ({ env, world }: Lab): Promise<string> => {
  const vmis = [...world.vmis.values()].map(({ facts }) => facts);
  const pods = [...world.pods.values()].map(({ facts, domain }) => ({ ...facts, domain: domain.state }));
  const tokens = Object.fromEntries(world.tokens);
  return `${JSON.stringify({ vmis, pods, tokens, manners: world.manners })}\n${await server.storyOf(env)}`;
};

interface Served {
  taskQueue: string;
  activities: object;
  workflowBundle?: WorkflowBundleWithSourceMap;
}

const run = async (
  env: TestWorkflowEnvironment,
  served: Served,
  options: { maxCachedWorkflows?: number },
): Promise<() => Promise<void>> => {
  const { maxCachedWorkflows } = options;
  const worker = await Worker.create({
    ...{ ...served, connection: env.nativeConnection, namespace: env.namespace ?? 'default' },
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
};

/** Functions of the same names that act on whatever `target` is when they are called. */
const delegating = <T extends object>(names: T, target: () => T): T =>
  Object.fromEntries(
    Object.keys(names).map((name) => [
      name,
      (input: never) => (target()[name as keyof T] as (input: never) => unknown)(input),
    ]),
  ) as T;

const unlessGone = async (send: () => Promise<void>): Promise<void> => {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

const tellOperation = (operation: WorkflowHandle, news: News): Promise<void> =>
  unlessGone(async () => {
    if (news.kind === 'pod') await operation.signal(podChanged, news.facts);
    if (news.kind === 'domain') await operation.signal(domainChanged, news.report);
    if (news.kind === 'vmim') await operation.signal(migrationObserved, news.facts);
  });

const tellEntities = async ({ env, world, continueAfter }: Lab, news: News): Promise<void> => {
  const { client } = env;
  const more = continueAfter === undefined ? {} : { continueAfter };
  switch (news.kind) {
    case 'domain': {
      const { vmi } = news.report;
      return unlessGone(() => client.workflow.getHandle(instanceId(vmi)).signal(domainReported, news.report));
    }
    case 'pod': {
      if (news.isExpected === true) return;
      const vmi = world.vmis.get(news.facts.createdBy)?.facts.vmi;
      if (vmi === undefined) return;
      return unlessGone(() => client.workflow.getHandle(instanceId(vmi)).signal(podObserved, news.facts));
    }
    case 'node':
      return unlessGone(() => client.workflow.getHandle(instanceId(news.vmi)).signal(nodeReported, news.report));
    case 'vmim': {
      const { facts, vmi } = news;
      const id = migrationId(facts.migration);
      const signal = { signal: migrationObserved, signalArgs: [facts] as [typeof facts] };
      // Only an object that is not final starts its workflow.
      await (facts.gone === true || ['Succeeded', 'Failed'].includes(facts.phase)
        ? unlessGone(() => client.workflow.getHandle(id).signal(migrationObserved, facts))
        : client.workflow.signalWithStart(WORKFLOWS.migrateInstance, {
            ...{ workflowId: id, taskQueue: CONTROLLER_QUEUE, ...signal },
            args: [{ entity: instanceId(vmi), vmi, attempt: 1, migration: facts.migration }],
            workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          }));
      return;
    }
    case 'vmi': {
      const { vmi, owner, gone } = news.facts;
      await (gone === true
        ? unlessGone(() => client.workflow.getHandle(instanceId(vmi)).signal(instanceObserved, news.facts))
        : client.workflow.signalWithStart(WORKFLOWS.virtualMachineInstance, {
            ...{ workflowId: instanceId(vmi), taskQueue: CONTROLLER_QUEUE, args: [{ ref: vmi, ...more }] },
            ...{
              signal: instanceObserved,
              signalArgs: [news.facts],
              workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
            },
          }));
      if (owner === undefined) return;
      const vm: ObjectRef = { namespace: vmi.namespace, ...owner };
      return unlessGone(() => client.workflow.getHandle(virtualMachineId(vm)).signal(instanceObserved, news.facts));
    }
  }
};
