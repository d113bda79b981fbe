import { randomUUID } from 'node:crypto';
import type { MigrationFacts, MigrationReport } from '../../../api/contract/migrations.ts';
import { migrationAnswered } from '../../../api/contract/migrations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { OperationResult, OperationStatus } from '../../../api/contract/operations.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import { instanceId, migrationId } from '../../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../../api/contract/task-queues.ts';
import type { Lab } from './lab.ts';
import type { FakeVmim } from './migrations.ts';
import { targetUid } from './migrations.ts';
import type { Operation } from './operations.ts';
import { outcome, runningVmi } from './operations.ts';
import { isActive } from './world.ts';

export interface Migrating {
  vmi: ObjectRef;
  /** The VMIM. */
  migration: ObjectRef;
  id: string;
  vmim: FakeVmim;
  source: Required<PodRef>;
  epoch: number;
  operation: Operation;
}

const refuseAll = (): never => {
  throw new Error('the Pod has no node');
};

export const newMigration = (): ObjectRef => ({ namespace: 'default', name: 'mig-1', uid: randomUUID() });

/** A running VMI and a migration of it that no entity is asked about: its answer is there from the beginning. */
export const migrate = async (
  lab: Lab,
  { facts = {}, before }: { facts?: Partial<MigrationFacts>; before?: (id: string) => void } = {},
): Promise<Migrating> => {
  const { vmi, pod, epoch } = await runningVmi(lab);
  const migration = newMigration();
  const id = migrationId(migration);
  lab.tellOperation(id);
  const { vmims } = lab.world.migrations;
  const vmim: FakeVmim = {
    ...{ vmi, reports: [] },
    facts: {
      ...{ migration, resourceVersion: '1', vmiName: vmi.name, phase: '', deleting: false, finalizers: [], ...facts },
    },
  };
  vmims.set(migration.uid, vmim);
  before?.(id);
  const source = { ...pod, node: pod.node ?? refuseAll() };
  const operation = await begin(lab, { vmi, migration, source, epoch });
  return { vmi, migration, id, vmim, source, epoch, operation };
};

/** Begins the workflow of a VMIM, or begins it again. */
export const begin = (
  lab: Lab,
  { vmi, migration, source, epoch }: Pick<Migrating, 'vmi' | 'migration' | 'source' | 'epoch'>,
): Promise<Operation> =>
  lab.env.client.workflow.signalWithStart(WORKFLOWS.migrateInstance, {
    ...{ workflowId: migrationId(migration), taskQueue: CONTROLLER_QUEUE },
    args: [{ entity: instanceId(vmi), vmi, attempt: 1, migration }],
    ...{ signal: migrationAnswered, signalArgs: [{ accepted: true, source, epoch }] },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
  });

export type Ending = OperationStatus | OperationResult;

export const failureOf = (ending: Ending) => ('failure' in ending ? ending.failure : undefined);

/** Where the guest is: in the source, in the target, or nowhere. */
export const guestOf = (lab: Lab, { source, migration }: Migrating): string => {
  const active = [...lab.world.pods.values()].filter(isActive).map(({ facts }) => facts.uid);
  const names = { [source.uid]: 'source', [targetUid(migration)]: 'target' };
  return active.map((uid) => names[uid] ?? uid).join(' and ') || 'nowhere';
};

/** What is left of a migration that is over: the guest's Pod and its token, or something that should not be. */
export const remains = (lab: Lab, { vmi }: Migrating): string[] => [
  ...lab.world.leftovers(vmi).filter((left) => !left.endsWith('domain running') && left !== 'token'),
  ...lab.world.violations,
];

/** How it ended, what its object says, where the guest is, and what is left. */
export const story = async (lab: Lab, migrating: Migrating, operation = migrating.operation) => {
  const ending = await outcome(operation);
  return {
    ending,
    failure: failureOf(ending),
    report: migrating.vmim.reports.at(-1) as MigrationReport,
    guest: guestOf(lab, migrating),
    left: remains(lab, migrating),
    pods: [...lab.world.pods.values()].filter(({ facts }) => facts.createdBy === migrating.vmi.uid).length,
  };
};
