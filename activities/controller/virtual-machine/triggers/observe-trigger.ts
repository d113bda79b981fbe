import type { ControllerActivities } from '../../../../api/contract/activities.ts';
import type { EntityStatus } from '../../../../api/contract/entities.ts';
import { entityStatus } from '../../../../api/contract/entities.ts';
import type { OperationStatus } from '../../../../api/contract/operations.ts';
import { operationStatus } from '../../../../api/contract/operations.ts';
import { instanceId } from '../../../../api/contract/refs.ts';
import { refOf } from '../../../facts/virtual-machine.ts';
import type { ControllerPorts } from '../../ports.ts';
import { findMigration } from '../../migration/read.ts';
import { findVirtualMachine } from '../read.ts';
import { progressOf } from './progress.ts';

/** Looks at the objects, and asks the workflows that know why something fails. */
export const observeTrigger =
  ({
    kube,
    workflows,
    clock,
  }: Pick<ControllerPorts, 'kube' | 'workflows' | 'clock'>): ControllerActivities['observeTrigger'] =>
  async ({ trigger, effect }) => {
    const { vm: ref } = trigger;
    const { vmim, retried } = effect;
    const [vm, vmi, migration, operation] = await Promise.all([
      findVirtualMachine(kube, ref),
      kube.get('VirtualMachineInstance', ref),
      vmim === undefined ? undefined : findMigration(kube, vmim),
      retried === undefined
        ? undefined
        : workflows.query<OperationStatus>(retried, operationStatus.name).catch(() => undefined),
    ]);
    const isOnItsWay =
      vmi !== undefined && (vmi.status?.phase !== 'Running' || vmi.metadata?.deletionTimestamp !== undefined);
    const isAsked = isOnItsWay && vmim === undefined && retried === undefined;
    // It knows why something has failed; that it does not answer now is no failure.
    const entity = isAsked
      ? await workflows.query<EntityStatus>(instanceId(refOf(vmi)), entityStatus.name).catch(() => undefined)
      : undefined;
    return progressOf(trigger, effect, {
      ...{ vm, vmi, migration, operation, failed: entity?.failedOperation, at: clock().toISOString() },
    });
  };
