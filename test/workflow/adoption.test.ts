import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { EntityStatus } from '../../api/contract/entities.ts';
import { ping, retryNow, retryOperation } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId, shutdownId, startId } from '../../api/contract/refs.ts';
import type { FakeVmi } from '../support/fakes/world.ts';
import { newLab } from '../support/fakes/lab.ts';
import { mayClose } from '../support/fakes/lingering.ts';
import { newVmi, untilStep } from '../support/fakes/operations.ts';

const lab = await newLab({ interceptors: ['test/support/fakes/lingering.ts'] });
afterAll(() => lab.close());
beforeEach(() => {
  lab.reset();
  lab.tellEntities();
});

/** A VMI that runs, and whose start has been asked and so tells its end. */
const running = async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const fake = lab.world.vmis.get(vmi.uid) ?? never();
  await tellAgain(fake);
  await lab.until('it is being scheduled', () => fake.facts.phase === 'Scheduling');
  await workflow(startId(vmi, 1)).signal(ping);
  lab.world.manners.kubelet = 'prompt';
  await lab.world.startPod(`pod-${vmi.uid}-1`);
  await lab.until('it runs', () => fake.facts.phase === 'Running');
  return { vmi, fake, entity: workflow(instanceId(vmi)) };
};
const workflow = (id: string) => lab.env.client.workflow.getHandle(id);
const tellAgain = ({ facts }: FakeVmi): Promise<void> => lab.world.tell({ kind: 'vmi', facts });
const isOpen = async (id: string): Promise<boolean> => (await workflow(id).describe()).status.name === 'RUNNING';
const untilStatus = (vmi: ObjectRef, what: string, isSo: (status: EntityStatus) => boolean) =>
  lab.until(what, async () => isSo(await workflow(instanceId(vmi)).query<EntityStatus>('entityStatus')));
/** Where the entity stays while the operation that has told its end does not close. */
const untilAdopted = (vmi: ObjectRef, id: string) =>
  untilStatus(vmi, 'the operation that told its end before is found', ({ operation }) => operation === id);
const close = async (id: string): Promise<void> => {
  await workflow(id).signal(mayClose);
  await lab.until(`${id} is closed`, async () => !(await isOpen(id)));
};
const never = (): never => {
  throw new Error('the VMI is gone');
};

test('a start whose end only the terminated run of the entity has heard tells it again', async () => {
  const { vmi, fake, entity } = await running();
  expect(await isOpen(startId(vmi, 1))).toBe(true);
  await entity.terminate();
  await tellAgain(fake);
  await untilAdopted(vmi, startId(vmi, 1));
  await lab.world.deleteVmi(vmi.uid);
  await close(startId(vmi, 1));
  await entity.result();
  expect(fake.reports.at(-1)).toMatchObject({ phase: 'Succeeded', reason: 'guest ended: acpiShutdown' });
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
});

test('a VMI is gone when it is deleted after its start was terminated unheard', async () => {
  const { vmi, fake, entity } = await running();
  await entity.terminate();
  await tellAgain(fake);
  await untilAdopted(vmi, startId(vmi, 1));
  await workflow(startId(vmi, 1)).terminate();
  await lab.world.deleteVmi(vmi.uid);
  await entity.result();
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
});

test('so does a shutdown that failed, and can be retried; how the guest ended is not forgotten', async () => {
  const { vmi, fake, entity } = await running();
  await close(startId(vmi, 1));
  lab.world.manners.refuse['releaseToken'] = { type: 'NotAuthorized', message: 'not yet' };
  await lab.world.endGuest([...lab.world.pods.keys()][0] ?? '', 'guestShutdown');
  await lab.until('it is shut down', () => isOpen(shutdownId(vmi, 1)).catch(() => false));
  await untilStep(workflow(shutdownId(vmi, 1)), 'ReleaseToken', 'waiting');
  await workflow(shutdownId(vmi, 1)).signal(ping);
  lab.world.manners.refuse['releaseToken'] = { type: 'Forbidden', message: 'not allowed' };
  await workflow(shutdownId(vmi, 1)).executeUpdate(retryNow);
  await untilStatus(vmi, 'the shutdown has failed', ({ failedOperation }) => failedOperation !== undefined);
  expect(await isOpen(shutdownId(vmi, 1))).toBe(true);
  await entity.terminate();
  await tellAgain(fake);
  await untilAdopted(vmi, shutdownId(vmi, 1));
  await close(shutdownId(vmi, 1));
  await untilStatus(vmi, 'its failure is shown again', ({ failedOperation }) => failedOperation !== undefined);
  delete lab.world.manners.refuse['releaseToken'];
  expect(await entity.executeUpdate(retryOperation)).toEqual({ operationId: shutdownId(vmi, 2) });
  await lab.until('the end is told', () => fake.facts.phase === 'Succeeded');
  expect(fake.reports.at(-1)?.reason).toBe('guest ended: guestShutdown');
  expect(lab.world.leftovers(vmi)).toEqual([]);
});
