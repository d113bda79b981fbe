import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { EntityStatus } from '../../api/contract/entities.ts';
import { dependencyChanged } from '../../api/contract/entities.ts';
import type { VirtualMachineFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { OperationStatus } from '../../api/contract/operations.ts';
import { instanceId, shutdownId } from '../../api/contract/refs.ts';
import { activitiesOf } from '../support/activities-of.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newMigration } from '../support/fakes/migrating.ts';
import type { Vm } from '../support/fakes/vm.ts';
import { newVm, untilRunning as runs } from '../support/fakes/vm.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
});

const created = (spec: Partial<VirtualMachineFacts> = {}) => newVm(lab, spec);
const theInstance = () => [...lab.world.vmis.values()][0]?.facts;
const untilRunning = (other?: string): Promise<ObjectRef> => runs(lab, other);
const over = (entity: WorkflowHandle) => entity.result();
const requestsOf = async (entity: WorkflowHandle) => (await entity.query<EntityStatus>('entityStatus')).requests;
const podUid = () => lab.until('a Pod', () => [...lab.world.pods.keys()][0]);
const untilGone = () => lab.until('the instance is gone', () => lab.world.vmis.size === 0);
const never = (): never => {
  throw new Error('there is no instance');
};
/** Everything that can happen has happened: the entity waits. */
const untilQuiet = async ({ fake }: Vm): Promise<void> => {
  await lab.until('no request is left', () => fake.requests.length === 0);
  await lab.env.sleep('1s');
};

test('Always: the instance is created and runs', async () => {
  const { fake } = await created();
  await untilRunning();
  await lab.until('a report', () => fake.reports.at(-1)?.then === 'run');
  expect(fake.reports.at(-1)?.conditions).toEqual([]);
});

test('a VM that is to run has its instance after one activity, and its status is written twice until it runs', async () => {
  const vm = await created();
  await untilRunning();
  await lab.until('the VM says that it runs', () => vm.fake.words.at(-1) === 'Running');
  expect(vm.fake.calls).toMatchObject({ createInstance: 1 });
  expect(vm.fake.calls['adoptVirtualMachine']).toBeUndefined();
  const { events } = await vm.entity.fetchHistory();
  expect(activitiesOf(events)[0]?.activity).toBe('createInstance');
  expect([...new Set(vm.fake.words)]).toEqual(['Starting', 'Running']);
});

test('Halted: nothing is created; switched to Always it runs, switched back it is stopped', async () => {
  const { fake, tell } = await created({ runStrategy: 'Halted' });
  await lab.until('a report', () => fake.reports.at(-1)?.then === 'stop');
  expect(lab.world.vmis.size).toBe(0);
  await tell({ runStrategy: 'Always', generation: 2 });
  await untilRunning();
  await tell({ runStrategy: 'Halted', generation: 3 });
  await lab.until('the instance is gone', () => lab.world.vmis.size === 0);
  expect(lab.world.pods.size).toBe(0);
});

test('a VM that waits is looked at again when something has come, also one that is halted', async () => {
  const { fake, entity } = await created({ runStrategy: 'Halted' });
  await lab.until('a report', () => fake.reports.length === 1);
  await entity.signal(dependencyChanged, { kind: 'VirtualMachineClusterInstancetype', name: 'small' });
  await lab.until('another one', () => fake.reports.length === 2);
});

test('a restart stops the instance, starts another, settles both requests, and never looks stopped', async () => {
  const { fake, tell } = await created();
  const first = await untilRunning();
  await lab.until('the report of the run', () => fake.reports.length > 0);
  const before = fake.reports.length;
  fake.requests = [{ action: 'Stop', uid: first.uid }, { action: 'Start' }];
  await tell();
  await untilRunning(first.uid);
  await lab.until('both requests are settled', () => fake.requests.length === 0);
  expect(fake.words.slice(before)).not.toContain('Stopped');
  expect(lab.world.violations).toEqual([]);
});

test('a start while the VM stops ends running, and the VM never looks stopped from then on', async () => {
  lab.world.manners.guest = 'ignores';
  const { fake, tell } = await created({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
  const first = await untilRunning();
  fake.requests = [...fake.requests, { action: 'Stop', uid: first.uid }];
  await tell();
  await lab.until('it stops', () => fake.words.at(-1) === 'Stopping');
  fake.requests = [...fake.requests, { action: 'Start' }];
  await tell();
  await lab.world.endGuest(await podUid(), 'destroyedAtDeadline');
  await untilRunning(first.uid);
  await lab.until('every request is off the list', () => fake.requests.length === 0);
  expect(fake.words.slice(fake.words.indexOf('Stopping'))).not.toContain('Stopped');
  expect(lab.world.violations).toEqual([]);
});

test('a migration never makes the VM look stopped', async () => {
  const { fake } = await created();
  const vmi = await untilRunning();
  await lab.until('the VM says that it runs', () => fake.words.at(-1) === 'Running');
  const vmim = await lab.world.migrations.create(vmi, newMigration());
  await lab.until('the migration is over', () => vmim.reports.at(-1)?.phase === 'Succeeded');
  expect([...new Set(fake.words)]).toEqual(['Starting', 'Running']);
});

test('a stop under way is shortened by a later one', async () => {
  lab.world.manners.guest = 'ignores';
  const { fake, tell } = await created({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
  const { uid } = await untilRunning();
  fake.requests = [...fake.requests, { action: 'Stop', uid }];
  await tell();
  await lab.until('it stops', () => theInstance()?.deleting === true);
  fake.requests = [...fake.requests, { action: 'Stop', uid, data: { gracePeriodSeconds: '0' } }];
  await tell();
  await lab.until('its grace period is over', () => theInstance()?.gracePeriodSeconds === 0);
  const { vmi } = theInstance() ?? never();
  const { operation } = await lab.env.client.workflow.getHandle(instanceId(vmi)).query<EntityStatus>('entityStatus');
  expect(operation).toBe(shutdownId(vmi, 1));
  const shutdown = lab.env.client.workflow.getHandle(shutdownId(vmi, 1));
  await lab.until('its deadline has come', async () => {
    const { deadline } = await shutdown.query<OperationStatus>('operationStatus');
    return Date.parse(deadline ?? '') <= (await lab.env.currentTimeMs());
  });
  await lab.world.endGuest(await podUid(), 'destroyedAtDeadline');
  await untilGone();
});

test('Manual: it starts and stops on request only, and each request tells what became of it', async () => {
  const vm = await created({ runStrategy: 'Manual' });
  await lab.until('a report', () => vm.fake.words.at(-1) === 'Stopped');
  vm.fake.requests = [{ action: 'Start' }];
  await vm.tell();
  const { uid } = await untilRunning();
  vm.fake.requests = [...vm.fake.requests, { action: 'Stop', uid }];
  await vm.tell();
  await untilGone();
  await untilQuiet(vm);
  expect(lab.world.vmis.size).toBe(0);
  expect(vm.fake.words.at(-1)).toBe('Stopped');
  expect(await requestsOf(vm.entity)).toMatchObject([
    { action: 'Start', outcome: 'served' },
    { action: 'Stop', uid, outcome: 'served' },
  ]);
});

test('Manual: an instance that ended stays, until a start is asked for', async () => {
  const { fake, tell } = await created({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
  const first = await untilRunning();
  await lab.world.endGuest(await podUid(), 'guestShutdown');
  await lab.until('it looks stopped', () => fake.words.at(-1) === 'Stopped');
  expect(theInstance()).toMatchObject({ phase: 'Succeeded', deleting: false });
  fake.requests = [...fake.requests, { action: 'Start' }];
  await tell();
  await untilRunning(first.uid);
});

test('RerunOnFailure: what crashed runs again, what was shut down stays so', async () => {
  const vm = await created({ runStrategy: 'RerunOnFailure' });
  const first = await untilRunning();
  await lab.until('the VM says that it runs', () => vm.fake.words.at(-1) === 'Running');
  await lab.world.endGuest(await podUid(), 'crashed');
  await untilRunning(first.uid);
  await untilQuiet(vm);
  expect(vm.fake.words).not.toContain('Stopped');
  await lab.world.endGuest(await podUid(), 'guestShutdown');
  await untilGone();
  await lab.until('it looks stopped', () => vm.fake.words.at(-1) === 'Stopped');
});

test('RerunOnFailure: stopped on request it stays so, also when its guest had to be killed', async () => {
  lab.world.manners.guest = 'ignores';
  const vm = await created({ runStrategy: 'RerunOnFailure' });
  const { uid } = await untilRunning();
  vm.fake.requests = [{ action: 'Stop', uid }];
  await vm.tell();
  await lab.until('it stops', () => theInstance()?.deleting === true);
  await lab.world.endGuest(await podUid(), 'destroyedAtDeadline');
  await untilGone();
  await untilQuiet(vm);
  expect(lab.world.vmis.size).toBe(0);
});

test('Once: it runs once, whatever becomes of it', async () => {
  const vm = await created({ runStrategy: 'Once' });
  const { uid } = await untilRunning();
  await lab.world.endGuest(await podUid(), 'crashed');
  await lab.until('it looks stopped', () => vm.fake.words.at(-1) === 'Stopped');
  await untilQuiet(vm);
  expect(theInstance()).toMatchObject({ vmi: { uid }, phase: 'Failed', deleting: false });
});

test('Halted and asked to start paused: it becomes Always, and its guest waits', async () => {
  const vm = await created({
    runStrategy: 'Halted',
    stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
  });
  await untilRunning();
  await untilQuiet(vm);
  expect(vm.fake.facts.runStrategy).toBe('Always');
  expect([...lab.world.pods.values()][0]?.domain.state).toBe('paused');
  expect(vm.fake.words).not.toContain('Stopped');
});

test('Always: an instance that ended is replaced', async () => {
  await created();
  const first = await untilRunning();
  await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'guestShutdown');
  expect((await untilRunning(first.uid)).uid).not.toBe(first.uid);
});

/** The Pod of the next start ends before its guest runs. */
const failStart = async (): Promise<void> => {
  lab.world.manners.kubelet = 'slow';
  const uid = await podUid();
  const { vmi } = theInstance() ?? never();
  await lab.until('the Pod is awaited', async () => {
    const { phase } = await lab.env.client.workflow.getHandle(instanceId(vmi)).query<EntityStatus>('entityStatus');
    return phase === 'Scheduling';
  });
  lab.world.manners.kubelet = 'prompt';
  await lab.world.endPod(uid);
};
const untilFailures = (fake: Vm['fake'], count: number) =>
  lab.until(`failure ${count}`, () => {
    const { startFailure } = fake.reports.at(-1) ?? {};
    return startFailure?.consecutiveFailCount === count ? startFailure : undefined;
  });

test('an instance that never ran is replaced after a growing back-off, which is told', async () => {
  lab.world.manners.kubelet = 'slow';
  const { fake } = await created();
  await failStart();
  await untilFailures(fake, 1);
  await lab.env.sleep('16s');
  await untilRunning();
  await lab.until('the failure is forgotten', () => fake.reports.at(-1)?.startFailure === undefined);
  expect(fake.words).toContain('CrashLoopBackOff');
  expect(fake.words).not.toContain('Stopped');
});

test('DataVolumes that are being filled hold the start up, and are looked at again', async () => {
  lab.world.manners.dataVolumes = 'provisioning';
  const { fake } = await created({ dataVolumes: 'now' });
  await lab.until('it waits', () => fake.reports.at(-1)?.dataVolumes === 'provisioning');
  expect(lab.world.vmis.size).toBe(0);
  lab.world.manners.dataVolumes = 'ready';
  await lab.env.sleep('16s');
  await untilRunning();
});

test('a deleted VM deletes its instance, waits for its end and is released', async () => {
  const { fake, tell, entity } = await created();
  await untilRunning();
  await tell({ deleting: true });
  await over(entity);
  expect(fake.released).toBe(true);
  expect(lab.world.vmis.size).toBe(0);
  expect(lab.world.pods.size).toBe(0);
});

test('a deleted VM whose instance is to stay is released, and the instance runs on', async () => {
  const { fake, tell, entity } = await created();
  const vmi = await untilRunning();
  await tell({ deleting: true, orphans: true });
  await over(entity);
  expect(fake.released).toBe(true);
  expect(lab.world.vmis.get(vmi.uid)?.facts).toMatchObject({ phase: 'Running', deleting: false });
});

test('a run strategy that is not carried out is refused with a condition, and so is a start', async () => {
  const { fake, entity } = await created({
    runStrategy: 'WaitAsReceiver',
    stateChangeRequests: [{ action: 'Start' }],
  });
  const condition = await lab.until('the condition', () => fake.reports.at(-1)?.conditions[0]);
  expect(condition).toMatchObject({ type: 'Failure', status: 'True', reason: 'UnsupportedSyncError' });
  await lab.until('the request is off the list', () => fake.requests.length === 0);
  expect(await requestsOf(entity)).toMatchObject([{ action: 'Start', outcome: 'refused' }]);
});

test('a refused creation is told and tried again when the VM changes', async () => {
  lab.world.manners.refuse['createInstance'] = {
    type: 'InvalidSpec',
    message: 'spec.domain.devices.disks[0]: no volume',
  };
  const { fake, tell } = await created();
  const condition = await lab.until('the condition', () => fake.reports.at(-1)?.conditions[0]);
  expect(condition).toMatchObject({
    type: 'Failure',
    reason: 'FailedCreate',
    message: 'spec.domain.devices.disks[0]: no volume',
  });
  delete lab.world.manners.refuse['createInstance'];
  await tell({ generation: 2 });
  await untilRunning();
  await lab.until('the condition is gone', () => fake.reports.at(-1)?.conditions.length === 0);
});

test('an entity that lost its history finds its instance and creates no second', async () => {
  const { tell, entity } = await created();
  const first = await untilRunning();
  await entity.terminate();
  await tell();
  await lab.until(
    'it has adopted',
    async () => (await entity.query<{ phase: string }>('entityStatus')).phase === 'Running',
  );
  expect(theInstance()?.vmi.uid).toBe(first.uid);
  expect(lab.world.vmis.size).toBe(1);
});

test('a crash loop goes on where it was when the entity has lost its history', async () => {
  lab.world.manners.kubelet = 'slow';
  const { fake, tell, entity } = await created();
  await failStart();
  await untilFailures(fake, 1);
  lab.world.manners.kubelet = 'slow';
  await untilGone();
  const { retryAfterTimestamp } = await untilFailures(fake, 1);
  await entity.terminate();
  await tell();
  await lab.until('it has looked', () => fake.calls['adoptVirtualMachine'] === 1);
  expect(await untilFailures(fake, 1)).toMatchObject({ retryAfterTimestamp });
  expect(fake.words.at(-1)).toBe('CrashLoopBackOff');
  expect(fake.calls['createInstance']).toBe(1);
  await failStart();
  expect(await lab.env.currentTimeMs()).toBeGreaterThan(Date.parse(retryAfterTimestamp));
  await untilFailures(fake, 2);
});
