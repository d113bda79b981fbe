import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { replicaSetId } from '../../api/contract/refs.ts';
import type { ReplicaSetStatus } from '../../api/contract/replica-sets.ts';
import { replicaSetObserved, replicaSetStatus } from '../../api/contract/replica-sets.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await newLab();
});
afterAll(() => lab.close());
let count = 0;
beforeEach(() => {
  lab.reset();
  count += 1;
});

const world = () => lab.world.replicaSet;
const setRef = () => ({ namespace: 'shop', name: 'web', uid: `rs-${count}` });

/** As the bridge tells it. */
const tell = (): Promise<WorkflowHandle> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.replicaSet, {
    ...{ workflowId: replicaSetId(setRef()), taskQueue: CONTROLLER_QUEUE },
    args: [{ set: setRef(), ...(lab.continueAfter === undefined ? {} : { continueAfter: lab.continueAfter }) }],
    ...{ signal: replicaSetObserved, signalArgs: [], workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' },
  });
const names = (): string[] => world().view.replicas.map(({ vmi }) => vmi.name);
const untilReported = (replicas: number, readyReplicas = 0) =>
  lab.until(`${replicas} replicas`, () => {
    const last = world().reports.at(-1);
    return last?.replicas === replicas && last.readyReplicas === readyReplicas && last.failure === undefined;
  });
const scale = async (wanted: number): Promise<WorkflowHandle> => {
  world().view.wanted = wanted;
  return tell();
};
const end = async (handle: WorkflowHandle): Promise<void> => {
  world().view.gone = true;
  await tell();
  await handle.result();
};

test('it is scaled up and down, and each time its status says so', async () => {
  const handle = await scale(3);
  await untilReported(3);
  expect(names()).toEqual(['web-0', 'web-1', 'web-2']);
  world().change('web-1', { ready: true });
  await tell();
  await untilReported(3, 1);
  await scale(1);
  await untilReported(1, 1);
  expect(names()).toEqual(['web-1']);
  await scale(2);
  await untilReported(2, 1);
  expect(names()).toEqual(['web-1', 'web-3']);
  await end(handle);
});

test('what has ended is replaced', async () => {
  const handle = await scale(2);
  await untilReported(2);
  world().change('web-0', { standing: 'ended' });
  await tell();
  await lab.until('it is replaced', () => names().join() === 'web-1,web-2');
  expect(world().deleted).toEqual(['web-0']);
  await end(handle);
});

/** The VMI has run for so many seconds, by the server's time, and then ends. */
const endAfter = async (name: string, seconds: number): Promise<void> => {
  const endedAt = await lab.env.currentTimeMs();
  const runningSince = new Date(endedAt - seconds * 1000).toISOString();
  world().change(name, { standing: 'ended', runningSince, endedAt: new Date(endedAt).toISOString() });
  await tell();
};
const untilBackOff = (failures: number): Promise<true> =>
  lab.until(`${failures} failures in a row are told`, () => world().reports.at(-1)?.backOff?.failures === failures);

test('what ends at once is replaced after a growing back-off, which outlives its memory of events, and a changed spec ends it', async () => {
  lab.continueAfter = 60;
  await scale(1);
  await untilReported(1);
  const waits: number[] = [];
  for (const failures of [1, 2, 3]) {
    const name = names()[0] ?? '';
    await endAfter(name, 2);
    await untilBackOff(failures);
    expect(names()).toEqual([]);
    const failedAt = await lab.env.currentTimeMs();
    await lab.env.sleep(failures ** 2 * 15_000 + 1_000);
    await untilReported(1);
    waits.push(Date.parse(world().view.replicas[0]?.createdAt ?? '') - failedAt);
  }
  waits.forEach((wait, index) => {
    expect(wait).toBeGreaterThanOrEqual((index + 1) ** 2 * 10_000 - 1_000);
    expect(wait).toBeLessThanOrEqual((index + 1) ** 2 * 15_000 + 1_000);
  });

  await endAfter(names()[0] ?? '', 2);
  await untilBackOff(4);
  world().view.generation = 2;
  const handle = await tell();
  await untilReported(1);
  expect(world().created).toEqual([0, 1, 2, 3, 4]);
  await end(lab.env.client.workflow.getHandle(handle.workflowId));
});

test('paused, it changes nothing and says so; resumed, it goes on', async () => {
  world().view.paused = true;
  const handle = await scale(2);
  await lab.until('it says so', () => world().reports.at(-1)?.paused === true);
  expect(names()).toEqual([]);
  world().view.paused = false;
  await tell();
  await untilReported(2);
  await end(handle);
});

test('a VMI that cannot be created is told, and tried again', async () => {
  lab.world.manners.refuse['createReplicas'] = { type: 'Forbidden', message: 'a policy says no' };
  const handle = await scale(1);
  await lab.until('it is told', () => world().reports.at(-1)?.failure?.message === 'a policy says no');
  expect((await handle.query<ReplicaSetStatus, []>(replicaSetStatus)).failure).toMatchObject({ while: 'creating' });
  delete lab.world.manners.refuse['createReplicas'];
  await lab.env.sleep('2 minutes');
  await untilReported(1);
  await end(handle);
});

test('a spec that cannot work is told', async () => {
  world().view.invalid = 'spec.selector does not select spec.template.metadata.labels.';
  const handle = await scale(1);
  await lab.until('it is told', () => world().reports.at(-1)?.failure?.type === 'InvalidSpec');
  expect(names()).toEqual([]);
  await end(handle);
});

test('one that is being deleted leaves its VMIs to the garbage collector, and ends with its object', async () => {
  const handle = await scale(2);
  await untilReported(2);
  world().view.deleting = true;
  world().view.replicas = [];
  await tell();
  await untilReported(0);
  expect(world().created).toEqual([0, 1]);
  await end(handle);
});

test('it costs nothing while nothing happens', async () => {
  const handle = await scale(1);
  await untilReported(1);
  await lab.env.sleep('1 minute');
  const before = (await handle.describe()).historyLength;
  await lab.env.sleep('1 day');
  expect((await handle.describe()).historyLength).toBe(before);
  await end(handle);
});

test('more than fit into one go are created all the same', async () => {
  const handle = await scale(130);
  await untilReported(130);
  expect(new Set(names()).size).toBe(130);
  await end(handle);
});

test('one whose memory was lost finds what there is', async () => {
  const first = await scale(2);
  await untilReported(2);
  await first.terminate('lost');
  const handle = await scale(3);
  await untilReported(3);
  expect(names()).toEqual(['web-0', 'web-1', 'web-2']);
  await end(handle);
});

test('it continues as new, and uses no name twice', async () => {
  lab.continueAfter = 10;
  const handle = await scale(1);
  await untilReported(1);
  await scale(2);
  await untilReported(2);
  expect(world().created).toEqual([0, 1]);
  await end(lab.env.client.workflow.getHandle(handle.workflowId));
});
