import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  isGrpcServiceError,
  type Client,
} from '@temporalio/client';
import type { Command } from 'commander';
import { entityStatus, type EntityStatus } from '../../api/contract/entities.ts';
import { retryNow, retryOperation } from '../../api/contract/operations.ts';
import { instanceId, migrationId } from '../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { UserError } from '../errors.ts';
import { whyNotMigrate } from '../migration/admissible.ts';
import { operationsQuery } from '../history/collect.ts';
import { destination } from '../migration/destination.ts';
import { isOver, migrationsOf, newMigration, phaseOf, refOf, sinceCreationOf } from '../migration/objects.ts';
import type { Migration } from '../migration/objects.ts';
import { vmCommand } from '../options.ts';
import { withTemporal } from '../temporal/connection.ts';
import { findGuest, talking, type Guest } from '../virtual-machine.ts';
import { command } from '../words.ts';

/** `virtflow retry`: ends the wait of the operation under way, or starts a new attempt of the one that failed last. */
export const retryCommand = (): Command =>
  vmCommand('retry', 'end the wait of the operation under way, or try the operation that failed last again')
    .addHelpText(
      'after',
      `
Examples:
  virtflow retry web-1      a step that waits (virtflow history web-1 shows it) is tried again now
  virtflow retry web-1      after a failed start or shutdown: a new attempt begins, which names the failed one
  virtflow retry web-1      after a failed migration: a new VirtualMachineInstanceMigration with the same node selector is created`,
    )
    .action(async (name: string, options: { namespace: string }) => {
      const guest = await findGuest(name, options);
      const { vmi } = guest;
      const uid = vmi?.metadata?.uid;
      if (!vmi || !uid) throw new UserError(`${name} has no instance, so no operation to retry; use virtflow start.`);
      const all = await talking(`reading migrations of ${name}`, () => migrationsOf(guest.kube, guest.name));
      const migrations = sinceCreationOf(all, vmi);
      await withTemporal(async ({ client }) => {
        try {
          const entity = client.workflow.getHandle(instanceId({ ...guest.name, uid }));
          const status = await entity.query(entityStatus);
          const what = whatToRetry(status, migrations, { vmi, newest: await newestOperation(client, guest.name) });
          if (what.kind === 'wait') await endWait(client, what.operation);
          else if (what.kind === 'migration') await migrateAgain(guest, what.failed, migrations);
          else console.log(`started ${(await entity.executeUpdate(retryOperation)).operationId}.`);
        } catch (error) {
          throw refused(error, name);
        }
      });
    });

export type Retry =
  { kind: 'wait'; operation: string } | { kind: 'migration'; failed: Migration } | { kind: 'operation' };

/** The operation of a VM that began last, as far as Temporal knows. */
export interface NewestOperation {
  workflowId: string;
  /** RFC 3339. */
  startedAt: string;
}

/** Undefined: there is none, or Temporal cannot look for it; the objects then tell. */
async function newestOperation(
  client: Client,
  { namespace, name }: Guest['name'],
): Promise<NewestOperation | undefined> {
  try {
    for await (const { workflowId, startTime } of client.workflow.list({ query: operationsQuery(namespace, name) }))
      return { workflowId, startedAt: startTime.toISOString() };
  } catch (error) {
    if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) throw error;
  }
  return undefined;
}

/** Something else was done to the VM since a migration of it: its object may be gone, so Temporal and the VMI's status tell. */
function isOvertaken(failed: Migration, { vmi, newest }: Since): boolean {
  const since = failed.metadata?.creationTimestamp ?? '';
  if (newest && newest.workflowId !== migrationId(refOf(failed)) && newest.startedAt > since) return true;
  const { migrationUid, startTimestamp = '' } = vmi?.status?.migrationState ?? {};
  return migrationUid !== undefined && migrationUid !== failed.metadata?.uid && startTimestamp > since;
}

interface Since {
  vmi?: Pick<VirtualMachineInstance, 'status'>;
  newest?: NewestOperation | undefined;
}

/**
 * What a retry is about: the operation under way; else, of what failed last, the newest. A failed migration leaves the guest running, so it is the
 * newest unless something else failed and was not retried since, or something else was done since.
 * @param migrations of this instance, oldest first
 * @param since what else tells of what was done last
 */
export function whatToRetry(
  { operation, failedOperation }: Pick<EntityStatus, 'operation' | 'failedOperation'>,
  migrations: readonly Migration[],
  since: Since = {},
): Retry {
  if (operation !== undefined) return { kind: 'wait', operation };
  const open = migrations.find((migration) => !isOver(migration));
  if (open) return { kind: 'wait', operation: migrationId(refOf(open)) };
  const newest = migrations.at(-1);
  const otherFailed = failedOperation !== undefined && !failedOperation.id.startsWith('migration/');
  return newest && phaseOf(newest) === 'Failed' && !otherFailed && !isOvertaken(newest, since)
    ? { kind: 'migration', failed: newest }
    : { kind: 'operation' };
}

async function endWait(client: Client, operation: string): Promise<void> {
  const { step } = await client.workflow.getHandle(operation).executeUpdate(retryNow);
  console.log(`${operation}: step ${step} is tried again now.`);
}

/** A migration is asked for by an object, so a new attempt is a new object. */
async function migrateAgain(guest: Guest, failed: Migration, migrations: readonly Migration[]): Promise<void> {
  const { kube, name } = guest;
  const why = whyNotMigrate(guest, migrations);
  if (why !== undefined) throw new UserError(why);
  const retryOf = failed.metadata?.name ?? '';
  const made = await talking(`migrating ${name.name}`, async () => {
    const wanted = { nodeSelector: failed.spec.addedNodeSelector ?? {} };
    const nodeSelector = await destination(kube, wanted, guest.vmi?.status?.nodeName);
    return kube.create('VirtualMachineInstanceMigration', newMigration(name, { nodeSelector, retryOf }));
  });
  console.log(
    `VirtualMachineInstanceMigration ${made.metadata?.name} created, which retries ${retryOf}. Follow it: kubectl get vmim -n ${name.namespace} ${made.metadata?.name} -w; its steps: ${command('history', name)}`,
  );
}

function refused(error: unknown, name: string): unknown {
  if (error instanceof WorkflowUpdateFailedError)
    return new UserError(`nothing to retry for ${name}: ${error.cause?.message ?? error.message}`, { cause: error });
  if (error instanceof WorkflowNotFoundError)
    return new UserError(`${name} has no workflow in Temporal yet; is the controller worker running?`, {
      cause: error,
    });
  return error;
}
