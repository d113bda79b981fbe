import type { WorkflowHandle, WorkflowHandleWithSignaledRunId } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { EvacuationResult, EvacuationStatus } from '../../api/contract/evacuation.ts';
import { evacuationObserved, evacuationStatus } from '../../api/contract/evacuation.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { evacuationId } from '../../api/contract/refs.ts';
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

const evacuation = () => lab.world.evacuation;
const done = (): string[] => evacuation().done;
const nodeRef = () => ({ name: `node-${count}`, uid: `n${count}` });

/** As the bridge tells it. */
const tell = (): Promise<WorkflowHandle> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.evacuateNode, {
    ...{ workflowId: evacuationId(nodeRef()), taskQueue: CONTROLLER_QUEUE },
    args: [{ node: nodeRef(), ...(lab.continueAfter === undefined ? {} : { continueAfter: lab.continueAfter }) }],
    ...{ signal: evacuationObserved, signalArgs: [], workflowIdReusePolicy: 'ALLOW_DUPLICATE' },
  });
const statusOf = (handle: WorkflowHandle) => handle.query<EvacuationStatus, []>(evacuationStatus);
const standings = async (handle: WorkflowHandle): Promise<string[]> =>
  (await statusOf(handle)).leaving.map(({ standing }) => standing);
const untilStandings = (handle: WorkflowHandle, ...wanted: string[]) =>
  lab.until(wanted.join(', '), async () => (await standings(handle)).join() === wanted.join());
const at = async (): Promise<string> => new Date(await lab.env.currentTimeMs()).toISOString();
const resultOf = (handle: WorkflowHandle) => handle.result() as Promise<EvacuationResult>;

test('everybody who is to leave gets a migration, and it ends when all have left', async () => {
  const [web, db] = [evacuation().ask('web'), evacuation().ask('db')];
  const handle = await tell();
  await untilStandings(handle, 'moving', 'moving');
  expect(done().sort()).toEqual(['migrate db', 'migrate web']);
  expect((await statusOf(handle)).leaving[0]).toMatchObject({ migration: 'evacuation-web-1', vmi: web });
  evacuation().drop(web);
  await tell();
  await untilStandings(handle, 'moving');
  evacuation().drop(db);
  await tell();
  expect(await resultOf(handle)).toEqual({ node: nodeRef(), end: 'done', created: 2 });
});

test('it costs nothing while migrations are under way: no timer, no further look', async () => {
  evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'moving');
  await lab.env.sleep('1 minute');
  const before = (await handle.describe()).historyLength;
  await lab.env.sleep('1 day');
  const { events = [] } = await handle.fetchHistory();
  expect(events?.some((event) => event.timerStartedEventAttributes != null)).toBe(false);
  expect((await handle.describe()).historyLength).toBe(before);
  evacuation().view.leaving = [];
  await tell();
  await resultOf(handle);
});

test('after a failed migration the next one waits, longer each time, and it is told once', async () => {
  const web = evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'moving');
  for (const seconds of [20, 40]) {
    evacuation().fail(web, await at());
    await tell();
    await untilStandings(handle, 'backingOff');
    await tell();
    const tries = done().filter((what) => what === 'migrate web').length;
    await lab.env.sleep((seconds - 5) * 1000);
    expect(done().filter((what) => what === 'migrate web')).toHaveLength(tries);
    await lab.env.sleep(10_000);
    await untilStandings(handle, 'moving');
    expect(done().filter((what) => what === 'migrate web')).toHaveLength(tries + 1);
  }
  expect(done().filter((what) => what.includes('waits until'))).toEqual([
    expect.stringContaining('after evacuation-web-1'),
    expect.stringContaining('after evacuation-web-2'),
  ]);
  evacuation().drop(web);
  await tell();
  expect(await resultOf(handle)).toMatchObject({ end: 'done', created: 3 });
});

test('one that cannot be migrated holds up none of the others, and says why', async () => {
  const message = 'it cannot be migrated: DisksNotLiveMigratable';
  evacuation().ask('local', { obstacle: { reason: 'NotMigratable', message } });
  const web = evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'obstructed', 'moving');
  expect((await statusOf(handle)).leaving[0]?.why).toBe(message);
  evacuation().drop(web);
  await tell();
  await untilStandings(handle, 'obstructed');
  evacuation().view.leaving = [];
  await tell();
  await resultOf(handle);
});

test('a migration that the API server refuses is shown, and asked for again', async () => {
  lab.world.manners.refuse['createEvacuation'] = { type: 'Forbidden', message: 'a policy says no' };
  const web = evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'refused');
  expect((await statusOf(handle)).leaving[0]).toMatchObject({ why: 'a policy says no' });
  delete lab.world.manners.refuse['createEvacuation'];
  await lab.env.sleep('2 minutes');
  await untilStandings(handle, 'moving');
  evacuation().drop(web);
  await tell();
  await resultOf(handle);
});

test('a node that is made schedulable again is not emptied: what does not run yet is cancelled, what runs goes on', async () => {
  const [web, db] = [evacuation().ask('web'), evacuation().ask('db')];
  const handle = await tell();
  await untilStandings(handle, 'moving', 'moving');
  evacuation().change(db, { migration: { name: 'evacuation-db-1', phase: 'Running' } });
  evacuation().view.cordoned = false;
  await tell();
  expect(await resultOf(handle)).toMatchObject({ end: 'uncordoned', created: 2 });
  expect(done().slice(2)).toEqual([`${web.name} may stay`, `${db.name} may stay`, 'cancel evacuation-web-1']);
});

test('what could not be taken back is taken back later', async () => {
  evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'moving');
  lab.world.manners.refuse['withdrawEvacuation'] = { type: 'NotAuthorized', message: 'no role' };
  evacuation().view.cordoned = false;
  await tell();
  await lab.until('it says so', async () => (await statusOf(handle)).failure?.message === 'no role');
  delete lab.world.manners.refuse['withdrawEvacuation'];
  await lab.env.sleep('2 minutes');
  expect(await resultOf(handle)).toMatchObject({ end: 'uncordoned' });
});

test('evacuate/cancel of one instance cancels its migration, and the others go on', async () => {
  const [web] = [evacuation().ask('web'), evacuation().ask('db')];
  const handle = await tell();
  await untilStandings(handle, 'moving', 'moving');
  evacuation().drop(web);
  evacuation().view.unwanted.push({ namespace: 'shop', name: 'evacuation-web-1', uid: 'evacuation-web-1' });
  await tell();
  await untilStandings(handle, 'moving');
  await lab.until('it is cancelled', () => done().includes('cancel evacuation-web-1'));
  evacuation().view.leaving = [];
  await tell();
  await resultOf(handle);
});

test('a Pod that is evicted from a node in use is migrated all the same', async () => {
  evacuation().view.cordoned = false;
  evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'moving');
  evacuation().view.leaving = [];
  await tell();
  expect(await resultOf(handle)).toMatchObject({ end: 'done' });
});

test('a Node that is gone needs nobody to empty it', async () => {
  evacuation().ask('web');
  const handle = await tell();
  await untilStandings(handle, 'moving');
  evacuation().view = { gone: true, cordoned: false, leaving: [], unwanted: [] };
  await tell();
  expect(await resultOf(handle)).toMatchObject({ end: 'nodeGone' });
});

test('a node can be emptied again', async () => {
  expect(await resultOf(await tell())).toMatchObject({ end: 'done', created: 0 });
  evacuation().ask('web');
  const again = await tell();
  await untilStandings(again, 'moving');
  evacuation().view.leaving = [];
  await tell();
  await resultOf(again);
});

test('it continues as new, and remembers that the node was cordoned', async () => {
  lab.continueAfter = 15;
  const web = evacuation().ask('web');
  const { workflowId, signaledRunId } = (await tell()) as WorkflowHandleWithSignaledRunId;
  const now = lab.env.client.workflow.getHandle(workflowId);
  await lab.until('another run', async () => {
    await tell();
    await lab.idle();
    return (await now.describe()).runId !== signaledRunId;
  });
  await untilStandings(now, 'moving');
  evacuation().view.cordoned = false;
  await tell();
  expect(await resultOf(now)).toMatchObject({ end: 'uncordoned', created: 1 });
  expect(done()).toContain(`${web.name} may stay`);
});
