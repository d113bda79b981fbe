import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Fence, NodeFacts, NodeStatus } from '../../api/contract/nodes.ts';
import { NODE_UNRESPONSIVE, nodeObserved, nodeStatus } from '../../api/contract/nodes.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId, nodeLifecycleId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import { activitiesOf } from '../support/activities-of.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVmi } from '../support/fakes/operations.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';
import { NODE } from '../support/fakes/world.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await newLab();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
  count += 1;
});

/** Nodes have no worker here, unless a test starts one: whoever asks them for something waits in vain. */
let count = 0;
const nodeRef = () => ({ name: `dead-${count}`, uid: `n${count}` });
const facts = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ node: nodeRef(), bootId: 'b1', heartbeat: '2026-01-01T00:00:00Z', silent: false, schedulable: true },
  ...more,
});
const fence = (): Fence => ({ by: 'operator', nodeUid: nodeRef().uid, bootId: 'b1' });

/** As the bridge tells it. */
const tell = (told: NodeFacts): Promise<WorkflowHandle> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.nodeLifecycle, {
    ...{ workflowId: nodeLifecycleId(told.node), taskQueue: CONTROLLER_QUEUE, args: [{ node: told.node }] },
    ...{ signal: nodeObserved, signalArgs: [told], workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' },
  });
const untilStanding = (handle: WorkflowHandle, standing: string) =>
  lab.until(standing, async () => (await handle.query<NodeStatus, []>(nodeStatus)).standing === standing);
const done = (): string[] => lab.world.nodes.done;

test('a node whose worker is heard of costs nothing: no timer, and no activity beyond the first look', async () => {
  const handle = await tell(facts());
  await untilStanding(handle, 'serving');
  expect(done()).toEqual(['lift', `open ${nodeRef().name}`, 'tell responsive']);
  const { events } = await handle.fetchHistory();
  expect(events?.some((event) => event.timerStartedEventAttributes != null)).toBe(false);
});

test('a silent node takes no more VMs, is never fenced by silence, and recovers', async () => {
  const handle = await tell(facts({ silent: true }));
  await untilStanding(handle, 'silent');
  await lab.env.sleep('3 days');
  expect(done()).toEqual([`close ${nodeRef().name}`, `open ${nodeRef().name}`, 'tell silent']);
  await tell(facts());
  await untilStanding(handle, 'serving');
  expect(done().slice(3)).toEqual(['lift', `open ${nodeRef().name}`, 'tell responsive']);
});

test('a fence is put on record, closes the node, asks a worker that may live, and is told last', async () => {
  await lab.startNode(nodeRef().name);
  const handle = await tell(facts({ fence: fence() }));
  await untilStanding(handle, 'fenced');
  const { name } = nodeRef();
  expect(done()).toEqual(['record operator', `close ${name}`, `stop on ${name}`, 'tell fenced']);
  expect(lab.world.nodes.records.get(name)).toEqual(fence());
});

test('a deleted Node is fenced once its worker is silent, and its workflow ends', async () => {
  const handle = await tell(facts());
  await untilStanding(handle, 'serving');
  lab.world.nodes.deleted = { outcome: 'alive', lastSign: new Date(await lab.env.currentTimeMs()).toISOString() };
  await tell(facts({ gone: true }));
  await untilStanding(handle, 'deleted');
  const deleted: Fence = { ...fence(), by: 'nodeDeleted' };
  lab.world.nodes.deleted = { outcome: 'fenced', fence: deleted };
  await handle.result();
  expect(done().filter((what) => what === 'assess')).toHaveLength(2);
  expect(done().slice(-1)).toEqual(['tell fenced']);
  expect(lab.world.nodes.records.get(nodeRef().name)).toEqual(deleted);
});

test('what it may not do is shown and tried again', async () => {
  lab.world.manners.refuse['closeNode'] = { type: 'Forbidden', message: 'not allowed' };
  const handle = await tell(facts({ silent: true }));
  await lab.until('it is tried', async () => activitiesOf((await handle.fetchHistory()).events).length > 0);
  delete lab.world.manners.refuse['closeNode'];
  await lab.env.sleep('2 minutes');
  await untilStanding(handle, 'silent');
});

/** A VMI that runs on the node, as the bridge tells of it. */
const runningThere = async (): Promise<{ vmi: ObjectRef; podUid: string }> => {
  await lab.startNode(nodeRef().name);
  lab.world.manners.node = nodeRef().name;
  const vmi = newVmi(lab);
  await lab.world.tell({ kind: 'vmi', facts: fakeOf(vmi).facts });
  await lab.until('it runs', () => fakeOf(vmi).facts.phase === 'Running');
  return { vmi, podUid: [...lab.world.pods.keys()].find((uid) => uid.includes(vmi.uid)) ?? '' };
};
const fakeOf = ({ uid }: ObjectRef) => {
  const vmi = lab.world.vmis.get(uid);
  if (vmi === undefined) throw new Error(`VMI ${uid} is gone`);
  return vmi;
};
const condition = (vmi: ObjectRef) =>
  fakeOf(vmi)
    .reports.at(-1)
    ?.conditions.find(({ type }) => type === NODE_UNRESPONSIVE);

test('an instance on a silent node says so, runs on, and its status recovers', async () => {
  const { vmi } = await runningThere();
  await tell(facts({ silent: true }));
  await lab.until('its status says so', () => condition(vmi) !== undefined);
  expect(condition(vmi)).toMatchObject({ status: 'True', message: expect.stringContaining('virtflow fence') });
  await lab.env.sleep('1 day');
  expect(fakeOf(vmi).facts.phase).toBe('Running');
  await tell(facts());
  await lab.until('its status recovers', () => condition(vmi) === undefined);
  expect(fakeOf(vmi).facts.phase).toBe('Running');
  expect(lab.world.violations).toEqual([]);
});

test('an instance on a fenced node fails, and nothing of it is left in the way of the next one', async () => {
  const { vmi } = await runningThere();
  lab.world.nodes.switchOff(nodeRef().name);
  lab.world.manners.refuse['shutdownDomain'] = { type: 'LauncherUnreachable', message: 'off' };
  lab.world.manners.refuse['proveDomainGone'] = { type: 'Unproven', message: 'off' };
  await tell(facts({ silent: true }));
  await lab.until('its status says so', () => condition(vmi) !== undefined);
  lab.world.nodes.fence(nodeRef().name);
  await tell(facts({ silent: true, fence: fence() }));
  await lab.until('it is Failed', () => fakeOf(vmi).facts.phase === 'Failed');
  await lab.until('nothing is left', () => lab.world.leftovers(vmi).length === 0);
  expect(fakeOf(vmi).reports.at(-1)).toMatchObject({ phase: 'Failed', reason: NODE_UNRESPONSIVE });
  expect(condition(vmi)).toBeUndefined();
  expect(lab.world.violations).toEqual([]);
});

test('a shutdown that waits for a dead node goes on once the node is fenced', async () => {
  const { vmi } = await runningThere();
  lab.world.nodes.switchOff(nodeRef().name);
  for (const activity of ['shutdownDomain', 'destroyDomain', 'proveDomainGone'])
    lab.world.manners.refuse[activity] = { type: 'LauncherUnreachable', message: 'off' };
  await lab.world.deleteVmi(vmi.uid);
  await lab.env.sleep('1 hour');
  expect(lab.world.leftovers(vmi)).not.toEqual([]);
  lab.world.nodes.fence(nodeRef().name);
  await tell(facts({ silent: true, fence: fence() }));
  await lab.env.client.workflow.getHandle(instanceId(vmi)).result();
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
});

test('a start on a node that is fenced meanwhile is given up', async () => {
  await lab.startNode(nodeRef().name);
  lab.world.manners.node = nodeRef().name;
  lab.world.manners.refuse['syncInstance'] = { type: 'LauncherUnreachable', message: 'off' };
  const vmi = newVmi(lab);
  await lab.world.tell({ kind: 'vmi', facts: fakeOf(vmi).facts });
  await lab.until('it is scheduled', () => fakeOf(vmi).facts.phase === 'Scheduled');
  lab.world.nodes.switchOff(nodeRef().name);
  lab.world.nodes.fence(nodeRef().name);
  lab.world.manners.refuse['proveDomainGone'] = { type: 'Unproven', message: 'off' };
  await tell(facts({ silent: true, fence: fence() }));
  await lab.until('it is Failed', () => fakeOf(vmi).facts.phase === 'Failed');
  await lab.until('nothing is left', () => lab.world.leftovers(vmi).length === 0);
  expect(lab.world.violations).toEqual([]);
});

test('a VM that shall always run is started on another node, once its own is fenced and not before', async () => {
  await lab.startNode(nodeRef().name);
  lab.world.manners.node = nodeRef().name;
  const { vm } = await newVm(lab);
  const first = await untilRunning(lab);
  lab.world.nodes.switchOff(nodeRef().name);
  for (const activity of ['shutdownDomain', 'destroyDomain', 'proveDomainGone'])
    lab.world.manners.refuse[activity] = { type: 'LauncherUnreachable', message: 'off' };
  lab.world.manners.node = NODE;
  await tell(facts({ silent: true }));
  await lab.until('its status says so', () => condition(first) !== undefined);
  await lab.env.sleep('1 day');
  expect([...lab.world.vmis.keys()]).toEqual([first.uid]);
  lab.world.nodes.fence(nodeRef().name);
  await tell(facts({ silent: true, fence: fence() }));
  const second = await untilRunning(lab, first.uid);
  expect(second.name).toBe(vm.name);
  expect([...lab.world.pods.values()].map((pod) => pod.facts.node)).toEqual([NODE]);
  expect(lab.world.violations).toEqual([]);
});
