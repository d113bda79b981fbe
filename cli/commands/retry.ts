import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Command } from 'commander';
import { entityStatus } from '../../api/contract/entities.ts';
import { retryNow, retryOperation } from '../../api/contract/operations.ts';
import { instanceId } from '../../api/contract/refs.ts';
import { UserError } from '../errors.ts';
import { vmCommand } from '../options.ts';
import { withTemporal } from '../temporal/connection.ts';
import { findGuest } from '../virtual-machine.ts';

/** `virtflow retry`: ends the wait of the operation under way, or starts a new attempt of the one that failed last. */
export const retryCommand = (): Command =>
  vmCommand('retry', 'end the wait of the operation under way, or try the operation that failed last again').action(
    async (name: string, options: { namespace: string }) => {
      const guest = await findGuest(name, options);
      const uid = guest.vmi?.metadata?.uid;
      if (!uid) throw new UserError(`${name} has no instance, so no operation to retry; use virtflow start.`);
      const entityId = instanceId({ ...guest.name, uid });
      await withTemporal(async ({ client }) => {
        try {
          const entity = client.workflow.getHandle(entityId);
          const { operation } = await entity.query(entityStatus);
          if (operation) {
            const { step } = await client.workflow.getHandle(operation).executeUpdate(retryNow);
            console.log(`${operation}: step ${step} is tried again now.`);
          } else {
            const { operationId } = await entity.executeUpdate(retryOperation);
            console.log(`started ${operationId}.`);
          }
        } catch (error) {
          throw refused(error, name);
        }
      });
    },
  );

function refused(error: unknown, name: string): unknown {
  if (error instanceof WorkflowUpdateFailedError)
    return new UserError(`nothing to retry for ${name}: ${error.cause?.message ?? error.message}`, { cause: error });
  if (error instanceof WorkflowNotFoundError)
    return new UserError(`${name} has no workflow in Temporal yet; is the controller worker running?`, {
      cause: error,
    });
  return error;
}
