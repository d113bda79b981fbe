import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { EntityStatus } from '../../api/contract/entities.ts';
import type { MigrationFacts } from '../../api/contract/migrations.ts';
import { MIGRATION_SCHEDULER_ID } from '../../api/contract/migrations.ts';
import type { SchedulerStatus } from '../../api/contract/migrations.ts';
import type { OperationStatus } from '../../api/contract/operations.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId, migrationId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newMigration } from '../support/fakes/migrating.ts';
import type { FakeVmim } from '../support/fakes/migrations.ts';
import { targetUid } from '../support/fakes/migrations.ts';
import { newVmi } from '../support/fakes/operations.ts';
import { TARGET_NODE, isActive } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(async () => {
  const { client } = lab.env;
  await client.workflow
    .getHandle(MIGRATION_SCHEDULER_ID)
    .terminate()
    .catch(() => undefined);
  const { scheduler } = lab.reset().migrations;
  lab.tellEntities();
  scheduler.request = async (request) => {
    await client.workflow.signalWithStart(WORKFLOWS.migrationScheduler, {
      ...{ workflowId: MIGRATION_SCHEDULER_ID, taskQueue: CONTROLLER_QUEUE, args: [{}] },
      ...{ signal: 'permitRequested', signalArgs: [request] },
    });
  };
  scheduler.return = (holder) => client.workflow.getHandle(MIGRATION_SCHEDULER_ID).signal('permitReturned', { holder });
  scheduler.isRunning = async (id) => (await client.workflow.getHandle(id).describe()).status.name === 'RUNNING';
});

const workflow = (id: string) => lab.env.client.workflow.getHandle(id);
const vmiOf = ({ uid }: ObjectRef) => lab.world.vmis.get(uid) ?? never();
const tellAgain = (vmi: ObjectRef): Promise<void> => lab.world.tell({ kind: 'vmi', facts: vmiOf(vmi).facts });
const never = (): never => {
  throw new Error('it is gone');
};
const running = async (name = 'vm-a'): Promise<ObjectRef> => {
  const vmi = newVmi(lab, name);
  await tellAgain(vmi);
  await lab.until('it runs', () => vmiOf(vmi).facts.phase === 'Running');
  return vmi;
};
const asked = async (vmi: ObjectRef, facts?: Partial<MigrationFacts>): Promise<FakeVmim> =>
  lab.world.migrations.create(vmi, newMigration(), facts);
const idOf = ({ facts }: FakeVmim): string => migrationId(facts.migration);
const untilPhase = (vmim: FakeVmim, phase: string) =>
  lab.until(`the migration is ${phase}`, () => vmim.reports.some((report) => report.phase === phase));
const untilIdle = (vmi: ObjectRef) =>
  lab.until('no operation is under way', async () => {
    const { operation } = await workflow(instanceId(vmi)).query<EntityStatus>('entityStatus');
    return operation === undefined;
  });
const untilJob = ({ facts }: FakeVmim) =>
  lab.until('the job runs', () => lab.world.pods.get(targetUid(facts.migration))?.domain.state === 'incoming');
const guests = (vmi: ObjectRef): string[] =>
  [...lab.world.pods.values()]
    .filter((pod) => pod.facts.createdBy === vmi.uid && isActive(pod))
    .map(({ facts }) => facts.uid);
const lastReport = (vmi: ObjectRef) => vmiOf(vmi).reports.at(-1) ?? never();

test('a VMI follows its guest to another node, and goes on living there', async () => {
  const vmi = await running();
  const before = vmiOf(vmi).reports.length;
  const vmim = await asked(vmi);
  await untilPhase(vmim, 'Succeeded');
  await untilIdle(vmi);
  const target = targetUid(vmim.facts.migration);
  await lab.until('it is told', () => lastReport(vmi).migration?.phase === 'Succeeded');
  expect(lastReport(vmi)).toMatchObject({ phase: 'Running', node: TARGET_NODE, activePods: { [target]: TARGET_NODE } });
  expect(vmiOf(vmi).reports.length - before).toBeLessThanOrEqual(6);
  const live = vmiOf(vmi);
  await lab.world.deleteVmi(vmi.uid);
  await workflow(instanceId(vmi)).result();
  expect(live.reports.at(-1)?.phase).toBe('Succeeded');
  expect([lab.world.leftovers(vmi), lab.world.violations]).toEqual([[], []]);
});

test('a second migration is refused while one runs, and may come afterwards', async () => {
  lab.world.manners.migrates = 'hangs';
  const vmi = await running();
  const first = await asked(vmi);
  await untilJob(first);
  const second = await asked(vmi);
  await untilPhase(second, 'Failed');
  expect(second.reports.at(-1)?.failure?.type).toBe('OperationUnderWay');
  lab.world.manners.migrates = 'works';
  await untilPhase(first, 'Succeeded');
  await untilIdle(vmi);
  expect([guests(vmi), lab.world.violations]).toEqual([[targetUid(first.facts.migration)], []]);
});

test('one of a VMI that does not run is refused', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  await tellAgain(vmi);
  await lab.until('it starts', () => lab.world.pods.size > 0);
  const vmim = await asked(vmi);
  await untilPhase(vmim, 'Failed');
  expect(vmim.reports.at(-1)?.failure?.type).toBe('OperationUnderWay');
});

test('a VMI that is deleted while it migrates: the migration is cancelled first, then the guest is shut down', async () => {
  lab.world.manners.migrates = 'hangs';
  const vmi = await running();
  const vmim = await asked(vmi);
  await untilJob(vmim);
  await lab.world.deleteVmi(vmi.uid);
  await workflow(instanceId(vmi)).result();
  expect(vmim.reports.at(-1)).toMatchObject({ phase: 'Failed', abort: 'succeeded' });
  expect([lab.world.leftovers(vmi), lab.world.violations]).toEqual([[], []]);
});

describe('a VMI that is deleted while nobody answers for the target of its migration', () => {
  const deletedWithDeadTarget = async () => {
    lab.world.manners.migrates = 'hangs';
    const vmi = await running();
    const vmim = await asked(vmi);
    await untilJob(vmim);
    const target = targetUid(vmim.facts.migration);
    const source = guests(vmi)[0] ?? never();
    lab.world.manners.silent = [target];
    lab.world.manners.kubelet = 'slow';
    await lab.world.deleteVmi(vmi.uid);
    await lab.until('its guest is shut down', () => guests(vmi).length === 0);
    await lab.until('its Pod is deleted', () => lab.world.pods.get(source)?.facts.deleting === true);
    await lab.world.endPod(source);
    await lab.until('it is over', () => lastReport(vmi).phase === 'Succeeded');
    expect(lab.world.tokens.get(vmi.name)).toMatchObject({ settled: vmim.facts.migration.uid });
    expect([lab.world.tokens.get(vmi.name)?.holder, lab.world.tokens.get(vmi.name)?.moving]).toEqual([
      undefined,
      undefined,
    ]);
    expect([lab.world.vmis.has(vmi.uid), lab.world.violations]).toEqual([true, []]);
    return { vmi, vmim, target };
  };
  const answers = async (target: string): Promise<void> => {
    lab.world.manners.silent = [];
    lab.world.manners.kubelet = 'prompt';
    await lab.world.endPod(target);
  };
  const gone = async (vmi: ObjectRef): Promise<void> => {
    await workflow(instanceId(vmi)).result();
    // The permit of a migration that was terminated is the scheduler's to take back.
    const left = lab.world.leftovers(vmi).filter((what) => !what.startsWith('permit'));
    expect([left, lab.world.violations]).toEqual([[], []]);
  };

  test('is shut down all the same, and goes when the target is gone', async () => {
    const { vmi, vmim, target } = await deletedWithDeadTarget();
    await answers(target);
    await gone(vmi);
    expect(vmim.reports.at(-1)).toMatchObject({ phase: 'Failed', abort: 'succeeded' });
  });

  test('removes the target by itself when the migration was terminated', async () => {
    const { vmi, vmim, target } = await deletedWithDeadTarget();
    await workflow(idOf(vmim)).terminate();
    await tellAgain(vmi);
    await answers(target);
    await gone(vmi);
  });

  test('is known again by an entity that was terminated', async () => {
    const { vmi, target } = await deletedWithDeadTarget();
    await workflow(instanceId(vmi)).terminate();
    await tellAgain(vmi);
    await answers(target);
    await gone(vmi);
  });
});

test('a guest that ends while it migrates ends its VMI', async () => {
  lab.world.manners.migrates = 'hangs';
  const vmi = await running();
  const vmim = await asked(vmi);
  await untilJob(vmim);
  const [source] = guests(vmi);
  lab.world.manners.migrates = 'fails';
  await lab.world.endGuest(source ?? '', 'guestShutdown');
  await lab.until('the VMI is over', () => vmiOf(vmi).facts.phase === 'Succeeded');
  expect([lab.world.leftovers(vmi), lab.world.violations]).toEqual([[], []]);
});

test('a guest that is lost ends its VMI as Failed', async () => {
  lab.world.manners.migrates = 'lost';
  const vmi = await running();
  await asked(vmi);
  await lab.until('the VMI is over', () => vmiOf(vmi).facts.phase === 'Failed');
  expect([lab.world.leftovers(vmi), lab.world.violations]).toEqual([[], []]);
});

describe('terminated while the guest moves', () => {
  const moving = async () => {
    lab.world.manners.migrates = 'hangs';
    const vmi = await running();
    const vmim = await asked(vmi);
    await untilJob(vmim);
    return { vmi, vmim, id: idOf(vmim) };
  };
  const settled = async ({ vmi, vmim }: Awaited<ReturnType<typeof moving>>) => {
    await untilIdle(vmi);
    expect([lab.world.violations, lab.world.tokens.get(vmi.name)?.moving]).toEqual([[], undefined]);
    expect(lab.world.pods.size).toBe(1);
    return { guests: guests(vmi), target: targetUid(vmim.facts.migration) };
  };

  test('the entity: a new one finds the migration and hears its end', async () => {
    const about = await moving();
    await workflow(instanceId(about.vmi)).terminate();
    await tellAgain(about.vmi);
    await lab.until('it is found', async () => {
      const { operation } = await workflow(instanceId(about.vmi)).query<EntityStatus>('entityStatus');
      return operation === about.id;
    });
    lab.world.manners.migrates = 'works';
    await untilPhase(about.vmim, 'Succeeded');
    const { guests: there, target } = await settled(about);
    expect(there).toEqual([target]);
  });

  test.each(['works', 'fails'] as const)(
    'the migration: the entity takes it up, and it comes to its end: %s',
    async (how) => {
      const about = await moving();
      await workflow(about.id).terminate();
      // As the sweep does.
      await tellAgain(about.vmi);
      lab.world.manners.migrates = how;
      await lab.until('it is over', () => ['Succeeded', 'Failed'].includes(about.vmim.facts.phase));
      const { guests: there } = await settled(about);
      expect(there).toHaveLength(1);
    },
  );

  test('both', async () => {
    const about = await moving();
    await workflow(about.id).terminate();
    await workflow(instanceId(about.vmi)).terminate();
    lab.world.manners.migrates = 'works';
    await tellAgain(about.vmi);
    await lab.until('it is over', () => ['Succeeded', 'Failed'].includes(about.vmim.facts.phase));
    const { guests: there } = await settled(about);
    expect(there).toHaveLength(1);
  });
});

describe('permits', () => {
  const status = () => workflow(MIGRATION_SCHEDULER_ID).query<SchedulerStatus>('schedulerStatus');
  /** From now on it asks twice a minute: what it waits for does not meet the end of a short timer; see untilLongWait. Here time may not skip. */
  const untilWaiting = async (vmim: FakeVmim, among: number) => {
    await lab.until('it waits', async () => (await status()).waiting.length === among);
    await lab.until('it says so', async () => {
      const { steps } = await workflow(idOf(vmim)).query<OperationStatus>('operationStatus');
      return steps.at(-1)?.note?.startsWith('waits') === true;
    });
  };
  const crowd = async (limits: SchedulerStatus['limits']) => {
    lab.world.manners.limits = limits;
    lab.world.manners.migrates = 'hangs';
    const vmis = [await running('vm-1'), await running('vm-2'), await running('vm-3')];
    const vmims: FakeVmim[] = [];
    for (const [index, vmi] of vmis.entries()) {
      const vmim = await asked(vmi, index === 2 ? { priority: '50' } : {});
      vmims.push(vmim);
      if (index === 0) await untilJob(vmim);
      else await untilWaiting(vmim, index);
    }
    return { vmis, vmims };
  };

  test('are as many as the limit, and the highest priority comes next', async () => {
    const { vmims } = await crowd({ perCluster: 1, outboundPerNode: 5 });
    const [first, second, third] = vmims;
    expect((await status()).waiting.map(({ holder }) => holder)).toEqual([
      idOf(third ?? never()),
      idOf(second ?? never()),
    ]);
    expect(second?.reports.map(({ phase }) => phase).at(-1) ?? 'Pending').toBe('Pending');
    lab.world.manners.migrates = 'works';
    for (const vmim of [first, third, second]) await untilPhase(vmim ?? never(), 'Succeeded');
    await lab.until('all came back', async () => (await status()).holding.length === 0);
    expect(lab.world.violations).toEqual([]);
  });

  test('are handed on when the limits grow', async () => {
    const { vmims } = await crowd({ perCluster: 5, outboundPerNode: 1 });
    lab.world.manners.limits = { perCluster: 5, outboundPerNode: 3 };
    lab.world.manners.migrates = 'works';
    await workflow(MIGRATION_SCHEDULER_ID).signal('limitsChanged');
    for (const vmim of vmims) await untilPhase(vmim, 'Succeeded');
  });

  test('are known again to a scheduler that was terminated, before it grants anything', async () => {
    const { vmims } = await crowd({ perCluster: 1, outboundPerNode: 1 });
    await workflow(MIGRATION_SCHEDULER_ID).terminate();
    const [first, second] = vmims;
    const request = { holder: idOf(second ?? never()), migration: second?.facts.migration ?? never() };
    await lab.world.migrations.scheduler.request({ ...request, sourceNode: 'node-a', priority: 0 });
    await lab.until('it knows', async () => (await status()).holding.length === 1);
    expect((await status()).holding[0]?.holder).toBe(idOf(first ?? never()));
    expect((await status()).waiting.map(({ holder }) => holder)).toEqual([idOf(second ?? never())]);
  });
});
