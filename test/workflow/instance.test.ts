import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { EntityStatus } from '../../api/contract/entities.ts';
import { podObserved } from '../../api/contract/entities.ts';
import type { WorkflowHandle } from '@temporalio/client';
import type { OperationStatus } from '../../api/contract/operations.ts';
import { retryOperation } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId, startId } from '../../api/contract/refs.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVmi } from '../support/fakes/operations.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
});

/** A VMI as the API server tells of it after its creation. */
const created = async (): Promise<ObjectRef> => {
  const vmi = newVmi(lab);
  await tellAgain(vmi);
  return vmi;
};
const fakeOf = ({ uid }: ObjectRef) => {
  const vmi = lab.world.vmis.get(uid);
  if (vmi === undefined) throw new Error(`VMI ${uid} is gone`);
  return vmi;
};
const tellAgain = (vmi: ObjectRef): Promise<void> => lab.world.tell({ kind: 'vmi', facts: fakeOf(vmi).facts });
const entity = (vmi: ObjectRef): WorkflowHandle => lab.env.client.workflow.getHandle(instanceId(vmi));
const untilPhase = (vmi: ObjectRef, phase: string) =>
  lab.until(`phase ${phase}`, () => fakeOf(vmi).facts.phase === phase);
const untilStatus = (vmi: ObjectRef, what: string, isSo: (status: EntityStatus) => boolean) =>
  lab.until(what, async () => isSo(await entity(vmi).query<EntityStatus>('entityStatus')));
const running = async (): Promise<{ vmi: ObjectRef; podUid: string }> => {
  const vmi = await created();
  await untilPhase(vmi, 'Running');
  await untilStatus(vmi, 'its start is over', ({ operation }) => operation === undefined);
  return { vmi, podUid: [...lab.world.pods.keys()].find((uid) => uid.includes(vmi.uid)) ?? '' };
};
const phases = (reports: { phase: string }[]): string[] => reports.map(({ phase }) => phase);
const condition = (vmi: ObjectRef, type: string) =>
  fakeOf(vmi)
    .reports.at(-1)
    ?.conditions.find((one) => one.type === type);

test('a VMI is started in at most three writes, and is ready when its domain runs', async () => {
  const { vmi } = await running();
  expect(phases(fakeOf(vmi).reports).length).toBeLessThanOrEqual(3);
  expect(phases(fakeOf(vmi).reports).at(-1)).toBe('Running');
  expect(
    fakeOf(vmi)
      .reports.at(-1)
      ?.phaseTimes.map(({ phase }) => phase),
  ).toEqual(['Scheduling', 'Scheduled', 'Running']);
  expect(condition(vmi, 'Ready')?.status).toBe('True');
});

test('an idle VMI has no timer and no activity', async () => {
  const { vmi } = await running();
  // The write that it runs may still be under way.
  const pending = async () => (await entity(vmi).describe()).raw.pendingActivities ?? [];
  await lab.until('no activity is under way', async () => (await pending()).length === 0);
  const { events } = await entity(vmi).fetchHistory();
  expect(events?.some((event) => event.timerStartedEventAttributes != null)).toBe(false);
});

test('a deleted VMI is shut down, is Succeeded, loses its finalizer and takes its entity along', async () => {
  const { vmi } = await running();
  const fake = fakeOf(vmi);
  await lab.world.deleteVmi(vmi.uid);
  await entity(vmi).result();
  expect(phases(fake.reports).at(-1)).toBe('Succeeded');
  expect(lab.world.vmis.has(vmi.uid)).toBe(false);
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
});

test.each([
  ['guestShutdown', 'Succeeded'],
  ['crashed', 'Failed'],
] as const)('a guest that ends by itself (%s) leaves its VMI %s', async (end, phase) => {
  const { vmi, podUid } = await running();
  await lab.world.endGuest(podUid, end);
  await untilPhase(vmi, phase);
  expect(fakeOf(vmi).reports.at(-1)?.reason).toBe(`guest ended: ${end}`);
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('a Pod deleted behind our back is followed to its end', async () => {
  const { vmi, podUid } = await running();
  await lab.world.controller.deletePod({ vmi, pod: { name: 'x', uid: podUid } });
  await untilPhase(vmi, 'Succeeded');
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('a deletion during the start cancels it and removes what there is', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = await created();
  await untilPhase(vmi, 'Scheduling');
  lab.world.manners.kubelet = 'prompt';
  await lab.world.deleteVmi(vmi.uid);
  await entity(vmi).result();
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('what a start waits for is shown, and a change of it ends the wait', async () => {
  lab.world.manners.refuse['checkVolumes'] = { type: 'VolumeNotFound', message: 'PVC default/disk does not exist' };
  const vmi = await created();
  await lab.until('the condition', () => condition(vmi, 'Synchronized'));
  expect(condition(vmi, 'Synchronized')).toMatchObject({
    reason: 'FailedPvcNotFound',
    message: 'PVC default/disk does not exist',
  });
  // Ten seconds to its next round; see untilLongWait. Here time may not skip.
  await lab.until('the fourth round', async () => {
    const { steps } = await lab.env.client.workflow
      .getHandle(startId(vmi, 1))
      .query<OperationStatus>('operationStatus');
    return steps.at(-1)?.attempts === 4 && steps.at(-1)?.state === 'waiting';
  });
  delete lab.world.manners.refuse['checkVolumes'];
  await entity(vmi).signal('dependencyChanged', { kind: 'PersistentVolumeClaim', name: 'disk' });
  await untilPhase(vmi, 'Running');
  expect(condition(vmi, 'Synchronized')).toBeUndefined();
});

test('a failed start waits with its condition until it is retried; the retry names it', async () => {
  lab.world.manners.refuse['ensureLauncherPod'] = { type: 'Forbidden', message: 'violates PodSecurity' };
  const vmi = await created();
  await untilStatus(vmi, 'a failed operation', ({ failedOperation }) => failedOperation !== undefined);
  await lab.until('the condition', () => condition(vmi, 'Synchronized'));
  expect(condition(vmi, 'Synchronized')).toMatchObject({ reason: 'FailedCreate', message: 'violates PodSecurity' });
  expect(lab.world.leftovers(vmi)).toEqual([]);
  delete lab.world.manners.refuse['ensureLauncherPod'];
  const { operationId } = await entity(vmi).executeUpdate(retryOperation);
  expect(operationId).toBe(`vmi-start/${vmi.uid}/2`);
  await untilPhase(vmi, 'Running');
  const status = await lab.env.client.workflow.getHandle(operationId).query<{ retryOf?: string }>('operationStatus');
  expect(status.retryOf).toBe(`vmi-start/${vmi.uid}/1`);
});

test('a retry is refused when nothing has failed', async () => {
  const { vmi } = await running();
  await expect(entity(vmi).executeUpdate(retryOperation)).rejects.toThrow();
});

test('a Pod that ends before its domain runs makes the VMI Failed', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = await created();
  await untilPhase(vmi, 'Scheduling');
  lab.world.manners.kubelet = 'prompt';
  await lab.world.endPod(`pod-${vmi.uid}-1`);
  await untilPhase(vmi, 'Failed');
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('an entity that was terminated with its guest running adopts it, and can still stop it', async () => {
  const { vmi, podUid } = await running();
  await entity(vmi).terminate();
  await tellAgain(vmi);
  await untilStatus(vmi, 'Running again', ({ phase }) => phase === 'Running');
  expect(lab.world.pods.get(podUid)?.domain.state).toBe('running');
  expect(lab.world.pods.size).toBe(1);
  await lab.world.deleteVmi(vmi.uid);
  await entity(vmi).result();
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
});

test('an entity that was terminated during a start finds the operation that still runs', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = await created();
  await untilPhase(vmi, 'Scheduling');
  await entity(vmi).terminate();
  await tellAgain(vmi);
  await untilStatus(vmi, 'the operation', ({ operation }) => operation === `vmi-start/${vmi.uid}/1`);
  await lab.world.startPod(`pod-${vmi.uid}-1`);
  await untilPhase(vmi, 'Running');
  expect(lab.world.pods.size).toBe(1);
});

test('an operation that was terminated is noticed and what it left is cleared away before the next attempt', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = await created();
  await untilPhase(vmi, 'Scheduling');
  lab.world.manners.kubelet = 'prompt';
  await lab.env.client.workflow.getHandle(`vmi-start/${vmi.uid}/1`).terminate();
  // As the sweep does.
  await tellAgain(vmi);
  await untilPhase(vmi, 'Running');
  expect([...lab.world.pods.keys()]).toEqual([`pod-${vmi.uid}-2`]);
  expect(lab.world.violations).toEqual([]);
});

test('a Pod that is not its own only informs', async () => {
  const { vmi, podUid } = await running();
  const foreign = {
    ...(lab.world.pods.get(podUid)?.facts ?? never()),
    uid: 'other',
    provenEnded: true,
    phase: 'Failed' as const,
  };
  const status = () => entity(vmi).query<EntityStatus>('entityStatus');
  // It runs on its launcher's word, before its start is over.
  await lab.until('its start is over', async () => (await status()).operation === undefined);
  await entity(vmi).signal(podObserved, foreign);
  expect(await status()).toMatchObject({ phase: 'Running' });
  expect((await status()).operation).toBeUndefined();
});

const never = (): never => {
  throw new Error('no Pod');
};
