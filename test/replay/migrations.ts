import type { WorkflowHandle } from '@temporalio/client';
import { MIGRATION_SCHEDULER_ID } from '../../api/contract/migrations.ts';
import type { MigrationReport } from '../../api/contract/migrations.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import { instanceId, migrationId } from '../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import type { Lab } from '../support/fakes/lab.ts';
import type { Migrating } from '../support/fakes/migrating.ts';
import { begin, migrate, newMigration } from '../support/fakes/migrating.ts';
import { targetUid } from '../support/fakes/migrations.ts';
import { newVmi, outcome, untilStep } from '../support/fakes/operations.ts';
import { until } from '../support/until.ts';
import type { Scenario } from './scenarios.ts';

const ended = async (name: string, operation: WorkflowHandle): Promise<Record<string, WorkflowHandle>> => {
  await outcome(operation);
  return { [name]: operation };
};

/** A migration whose job is under way and does not end by itself. */
const underWay = async (lab: Lab): Promise<Migrating> => {
  lab.world.manners.migrates = 'hangs';
  const migrating = await migrate(lab);
  await untilStep(migrating.operation, 'MigrateVMI');
  await until('the job runs', () => lab.world.pods.get(targetUid(migrating.migration))?.domain.state === 'incoming');
  return migrating;
};

const published = ({ vmim }: Migrating, what: string, isSo: (report: MigrationReport) => boolean): Promise<true> =>
  until(what, () => vmim.reports.some(isSo));

/** Each ending of a migration, once; and what its instance and the scheduler make of it. */
export const migrations: Record<string, Scenario> = {
  migrationSucceeds: async (lab) => {
    lab.tellEntities();
    const { client } = lab.env;
    const scheduler = client.workflow.getHandle(MIGRATION_SCHEDULER_ID);
    lab.world.migrations.scheduler.request = async (request) => {
      await client.workflow.signalWithStart(WORKFLOWS.migrationScheduler, {
        ...{ workflowId: MIGRATION_SCHEDULER_ID, taskQueue: CONTROLLER_QUEUE, args: [{}] },
        ...{ signal: 'permitRequested', signalArgs: [request] },
      });
    };
    lab.world.migrations.scheduler.return = (holder) => scheduler.signal('permitReturned', { holder });
    const vmi = newVmi(lab);
    const fake = lab.world.vmis.get(vmi.uid);
    if (fake === undefined) throw new Error('the VMI is gone');
    await lab.world.tell({ kind: 'vmi', facts: fake.facts });
    await until('it runs', () => fake.facts.phase === 'Running');
    const migration = newMigration();
    await lab.world.migrations.create(vmi, migration);
    const operation = client.workflow.getHandle(migrationId(migration));
    await outcome(operation);
    await lab.world.deleteVmi(vmi.uid);
    const entity = client.workflow.getHandle(instanceId(vmi));
    await entity.result();
    return {
      ...{ 'migration-succeeded': operation, 'instance-migrated': entity, 'migration-scheduler': scheduler },
    };
  },
  sourceKeepsTheGuest: async (lab) => {
    lab.world.manners.migrates = 'fails';
    return ended('migration-failed', (await migrate(lab)).operation);
  },
  migrationIsCancelled: async (lab) => {
    const { operation } = await underWay(lab);
    await operation.cancel();
    return ended('migration-aborted', operation);
  },
  migrationIsRefused: async (lab) => {
    lab.world.manners.refuse['admitMigration'] = { type: 'NotMigratable', message: 'DisksNotLiveMigratable' };
    return ended('migration-refused', (await migrate(lab)).operation);
  },
  targetPodFails: async (lab) => {
    const slow = (): void => void (lab.world.manners.kubelet = 'slow');
    const migrating = await migrate(lab, { before: slow });
    await untilStep(migrating.operation, 'InspectSource', 'done');
    lab.world.manners.kubelet = 'prompt';
    await lab.world.controller.deletePod({
      ...{ vmi: migrating.vmi, pod: { name: 'target', uid: targetUid(migrating.migration) } },
    });
    return ended('migration-target-failed', migrating.operation);
  },
  outcomeIsUnknown: async (lab) => {
    lab.world.manners.migrates = 'unresumed';
    const migrating = await migrate(lab, {
      before: () => {
        const silence = () => Promise.resolve(lab.world.manners.silent.push([...lab.world.pods.keys()][0] ?? ''));
        lab.fault = { at: 1, of: 'inspectMigration', kind: 'meanwhile', run: silence };
      },
    });
    await published(migrating, 'it is told', ({ outcomeUnknown }) => outcomeUnknown !== undefined);
    lab.world.manners.silent = [];
    return ended('migration-outcome-unknown', migrating.operation);
  },
  guestIsLost: async (lab) => {
    lab.world.manners.migrates = 'lost';
    return ended('migration-lost', (await migrate(lab)).operation);
  },
  guestIsShutDownBesideIt: async (lab) => {
    lab.tellEntities();
    lab.world.manners.migrates = 'hangs';
    const { client } = lab.env;
    const vmi = newVmi(lab);
    const fake = lab.world.vmis.get(vmi.uid);
    if (fake === undefined) throw new Error('the VMI is gone');
    await lab.world.tell({ kind: 'vmi', facts: fake.facts });
    await until('it runs', () => fake.facts.phase === 'Running');
    const source = [...lab.world.pods.keys()][0] ?? '';
    const migration = newMigration();
    await lab.world.migrations.create(vmi, migration);
    const target = targetUid(migration);
    await until('the job runs', () => lab.world.pods.get(target)?.domain.state === 'incoming');
    lab.world.manners.silent = [target];
    lab.world.manners.kubelet = 'slow';
    await lab.world.deleteVmi(vmi.uid);
    await until('its Pod is deleted', () => lab.world.pods.get(source)?.facts.deleting === true);
    await lab.world.endPod(source);
    await until('it is over', () => fake.facts.phase === 'Succeeded');
    lab.world.manners.silent = [];
    lab.world.manners.kubelet = 'prompt';
    await lab.world.endPod(target);
    const entity = client.workflow.getHandle(instanceId(vmi));
    await entity.result();
    return { 'instance-shut-down-beside-migration': entity };
  },
  migrationIsTerminated: async (lab) => {
    const migrating = await underWay(lab);
    await migrating.operation.terminate();
    const again = await begin(lab, migrating);
    await untilStep(again, 'ResolveMigration');
    lab.world.manners.migrates = 'unresumed';
    return ended('migration-taken-up', again);
  },
};
