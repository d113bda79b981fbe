import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { VirtualMachineFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId } from '../../api/contract/refs.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVm, untilRunning as runs } from '../support/fakes/vm.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
});

const created = (spec: Partial<VirtualMachineFacts> = {}) => newVm(lab, spec);
const theInstance = () => [...lab.world.vmis.values()][0]?.facts;
const untilRunning = (other?: string): Promise<ObjectRef> => runs(lab, other);
const over = (entity: WorkflowHandle) => entity.result();

test('Always: the instance is created and runs', async () => {
  const { fake } = await created();
  await untilRunning();
  await lab.until('a report', () => fake.reports.at(-1)?.intent === 'run');
  expect(fake.reports.at(-1)?.conditions).toEqual([]);
});

test('Halted: nothing is created; switched to Always it runs, switched back it is stopped', async () => {
  const { fake, tell } = await created({ runStrategy: 'Halted' });
  await lab.until('a report', () => fake.reports.at(-1)?.intent === 'stop');
  expect(lab.world.vmis.size).toBe(0);
  await tell({ runStrategy: 'Always', generation: 2 });
  await untilRunning();
  await tell({ runStrategy: 'Halted', generation: 3 });
  await lab.until('the instance is gone', () => lab.world.vmis.size === 0);
  expect(lab.world.pods.size).toBe(0);
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
  expect(fake.reports.slice(before).map(({ intent }) => intent)).not.toContain('stop');
  expect(lab.world.violations).toEqual([]);
});

test('Always: an instance that ended is replaced', async () => {
  await created();
  const first = await untilRunning();
  await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'guestShutdown');
  expect((await untilRunning(first.uid)).uid).not.toBe(first.uid);
});

test('an instance that never ran is replaced after a growing back-off, which is told', async () => {
  lab.world.manners.kubelet = 'slow';
  const { vm, fake } = await created();
  const podUid = await lab.until('a Pod', () => [...lab.world.pods.keys()][0]);
  lab.world.manners.kubelet = 'prompt';
  await lab.until('the Pod is awaited', async () => {
    const { phase } = await lab.env.client.workflow
      .getHandle(instanceId(theInstance()?.vmi ?? vm))
      .query<{ phase: string }>('entityStatus');
    return phase === 'Scheduling';
  });
  await lab.world.endPod(podUid);
  const failure = await lab.until('the failure is told', () => fake.reports.at(-1)?.startFailure);
  expect(failure.consecutiveFailCount).toBe(1);
  await lab.env.sleep('11s');
  await untilRunning();
  await lab.until('the failure is forgotten', () => fake.reports.at(-1)?.startFailure === undefined);
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

test('a run strategy of a later release is refused with a condition', async () => {
  const { fake } = await created({ runStrategy: 'Manual' });
  const condition = await lab.until('the condition', () => fake.reports.at(-1)?.conditions[0]);
  expect(condition).toMatchObject({ type: 'Failure', status: 'True' });
  expect(condition.message).toContain('Manual is not supported yet');
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
