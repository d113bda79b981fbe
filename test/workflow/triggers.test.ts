import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { EntityStatus } from '../../api/contract/entities.ts';
import type { VirtualMachineFacts } from '../../api/contract/facts.ts';
import { retryNow } from '../../api/contract/operations.ts';
import { startId } from '../../api/contract/refs.ts';
import { triggerId } from '../../api/contract/triggers.ts';
import { virtflowClient } from '../../client/index.ts';
import { newLab } from '../support/fakes/lab.ts';
import type { Vm } from '../support/fakes/vm.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
});

const client = virtflowClient(lab.env.client);
const triggers = ({ vm }: Vm) => client.virtualMachine(vm);
/** A VM whose entity has looked at it. */
const known = async (spec: Partial<VirtualMachineFacts> = {}): Promise<Vm> => {
  const vm = await newVm(lab, spec);
  await lab.until('it is known', () => vm.fake.reports.length > 0);
  return vm;
};
const running = async (spec: Partial<VirtualMachineFacts> = {}) => {
  const vm = await newVm(lab, spec);
  const first = await untilRunning(lab);
  await lab.until('its entity knows', async () => (await statusOf(vm)).phase === 'Running');
  return { vm, first };
};
const statusOf = (vm: Vm) => vm.entity.query<EntityStatus>('entityStatus');
const refused = (message: string) =>
  expect.objectContaining({ code: 'Refused', message: expect.stringContaining(message) });

test('a start is accepted with an operation id at once; its outcome is the instance that runs', async () => {
  const vm = await known({ runStrategy: 'Halted' });
  const operation = await triggers(vm).start({ key: 'a' });
  expect(operation.id).toBe(triggerId(vm.vm, 'start', 'a'));
  const outcome = await operation.outcome();
  const { uid } = await untilRunning(lab);
  expect(outcome).toMatchObject({ outcome: 'succeeded', instance: uid });
  expect(outcome.steps.map(({ name, state }) => [name, state])).toEqual([
    ['Request start', 'done'],
    ['AwaitOutcome', 'done'],
  ]);
  expect(vm.fake.facts.runStrategy).toBe('Always');
});

test("what the VM does not take is refused at once, with the front door's reason, and nothing is done", async () => {
  const { vm } = await running();
  await expect(triggers(vm).start()).rejects.toEqual(refused('VM is already running'));
  await expect(triggers(vm).stop({ gracePeriod: -1 })).rejects.toEqual(refused('gracePeriod has to be'));
  await expect(triggers(vm).restart({ key: 'no spaces' })).rejects.toEqual(refused('key is missing'));
  expect(lab.world.triggers.changes).toBe(0);
  expect((await statusOf(vm)).triggers).toBeUndefined();
});

test('a VM without a workflow is told apart', async () => {
  const nobody = client.virtualMachine({ namespace: 'default', name: 'nobody', uid: randomUUID() });
  await expect(nobody.start()).rejects.toMatchObject({ code: 'VirtualMachineNotFound' });
});

test('a restart asked for twice under one key is one operation and one restart', async () => {
  const { vm, first } = await running();
  const [one, two] = await Promise.all([triggers(vm).restart({ key: 'k' }), triggers(vm).restart({ key: 'k' })]);
  expect(two.id).toBe(one.id);
  const outcome = await one.outcome();
  const second = await untilRunning(lab, first.uid);
  expect(outcome).toMatchObject({ outcome: 'succeeded', instance: second.uid });
  const again = await triggers(vm).restart({ key: 'k' });
  expect(await again.outcome()).toEqual(outcome);
  expect(lab.world.triggers.changes).toBe(1);
  expect((await untilRunning(lab)).uid).toBe(second.uid);
});

test('a migration is one object with a name of its own, however often it is asked for', async () => {
  const { vm } = await running();
  lab.fault = { at: 0, of: 'performTrigger', kind: 'after' };
  const [operation, same] = await Promise.all([triggers(vm).migrate({ key: 'm' }), triggers(vm).migrate({ key: 'm' })]);
  expect(same.id).toBe(operation.id);
  const outcome = await operation.outcome();
  expect(lab.world.triggers.created).toEqual([expect.stringMatching(/^kubevirt-migrate-vm-[0-9a-f]{16}$/)]);
  expect(outcome).toMatchObject({ outcome: 'succeeded', vmim: { name: lab.world.triggers.created[0] } });
});

test('a migration that fails is a failed outcome with its reason', async () => {
  lab.world.manners.migrates = 'fails';
  const { vm } = await running();
  const operation = await triggers(vm).migrate();
  expect(await operation.outcome()).toMatchObject({ outcome: 'failed', failure: { type: 'MigrationFailed' } });
});

test('a start that fails for good is a failed outcome; a retry tries it again', async () => {
  lab.world.manners.refuse['ensureLauncherPod'] = { type: 'Forbidden', message: 'violates PodSecurity' };
  const vm = await known({ runStrategy: 'Halted' });
  const start = await triggers(vm).start();
  const outcome = await start.outcome();
  expect(outcome).toMatchObject({ outcome: 'failed', failure: { type: 'Forbidden', message: 'violates PodSecurity' } });
  delete lab.world.manners.refuse['ensureLauncherPod'];
  const vmi = [...lab.world.vmis.values()][0]?.facts.vmi ?? vm.vm;
  const retry = await triggers(vm).retry({ key: 'r' });
  expect(await retry.outcome()).toMatchObject({ outcome: 'succeeded', retried: startId(vmi, 2) });
  await untilRunning(lab);
  const again = await triggers(vm).retry({ key: 'r' });
  expect(await again.outcome()).toMatchObject({ retried: startId(vmi, 2) });
});

test('a retry with nothing to retry fails, and one of a VM without an instance is refused', async () => {
  const { vm } = await running();
  const operation = await triggers(vm).retry();
  expect(await operation.outcome()).toMatchObject({ outcome: 'failed', failure: { type: 'Refused' } });
  await (await triggers(vm).stop()).outcome();
  await lab.until('it is told', async () => (await statusOf(vm)).phase === 'NoInstance');
  await expect(triggers(vm).retry()).rejects.toEqual(refused('no instance'));
});

test('a retry ends the wait of a step, and its outcome is that of the operation', async () => {
  lab.world.manners.refuse['checkVolumes'] = { type: 'VolumeNotFound', message: 'no PVC' };
  const vm = await known();
  const vmi = await lab.until('an instance', () => [...lab.world.vmis.values()][0]?.facts.vmi);
  await lab.until('it waits, and says so', () => (lab.world.vmis.get(vmi.uid)?.reports.length ?? 0) > 0);
  delete lab.world.manners.refuse['checkVolumes'];
  const retry = await triggers(vm).retry();
  expect(await retry.outcome()).toMatchObject({ outcome: 'succeeded', retried: startId(vmi, 1) });
});

test('an API server that is away is waited for; the caller has its operation, sees why it waits, and can end the wait', async () => {
  const vm = await known({ runStrategy: 'Halted' });
  lab.world.manners.refuse['performTrigger'] = { type: 'NotAuthorized', message: 'the API server is away' };
  const operation = await triggers(vm).start();
  const request = async () => (await operation.status()).steps[0];
  await lab.until('it waits for long', async () => {
    const { state, attempts = 0 } = (await request()) ?? {};
    return state === 'waiting' && attempts > 2;
  });
  expect(await request()).toMatchObject({ failure: { message: 'the API server is away' } });
  const before = (await request())?.attempts ?? 0;
  await lab.env.client.workflow.getHandle(operation.id).executeUpdate(retryNow);
  await lab.until('it is tried', async () => ((await request())?.attempts ?? 0) > before);
  delete lab.world.manners.refuse['performTrigger'];
  expect(await operation.outcome()).toMatchObject({ outcome: 'succeeded' });
});

test('a stop is done when the instance has ended', async () => {
  lab.world.manners.guest = 'ignores';
  const { vm, first } = await running({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
  const stop = await triggers(vm).stop();
  await lab.until('it is stopped', () => lab.world.vmis.get(first.uid)?.facts.deleting === true);
  await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'destroyedAtDeadline');
  expect(await stop.outcome()).toMatchObject({ outcome: 'succeeded' });
  expect(lab.world.vmis.size).toBe(0);
});

test('a start that another request overtakes is a failed outcome', async () => {
  lab.world.manners.refuse['checkVolumes'] = { type: 'VolumeNotFound', message: 'no PVC' };
  const vm = await known({ runStrategy: 'Halted' });
  const start = await triggers(vm).start();
  await lab.until('an instance', () => lab.world.vmis.size === 1);
  await vm.tell({ runStrategy: 'Halted', generation: 9 });
  expect(await start.outcome()).toMatchObject({
    outcome: 'failed',
    failure: { type: 'Cancelled', message: expect.stringContaining('halted') },
  });
});

test('keys hold across continue-as-new, and no more of them are kept than needed', async () => {
  // Not before the requests: a query must not meet the task in which an entity continues as new.
  lab.continueAfter = 120;
  const { vm } = await running({ runStrategy: 'Manual', stateChangeRequests: [{ action: 'Start' }] });
  const first = await triggers(vm).restart({ key: 'first' });
  const outcome = await first.outcome();
  await lab.idle();
  for (let n = 0; n < 34; n += 1) await (await triggers(vm).retry({ key: `r${n}` })).outcome();
  await lab.idle();
  const { triggers: kept = [] } = await statusOf(vm);
  expect(kept).toHaveLength(32);
  expect(kept.some(({ id }) => id === first.id)).toBe(false);
  const { runId } = await vm.entity.describe();
  expect(runId).not.toBe(
    (await vm.entity.fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId,
  );
  const again = await triggers(vm).restart({ key: 'first' });
  expect(again.id).toBe(first.id);
  expect(await again.outcome()).toEqual(outcome);
  expect(lab.world.triggers.changes).toBe(1);
});
