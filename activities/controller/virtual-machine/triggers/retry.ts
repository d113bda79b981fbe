import type { EntityStatus } from '../../../../api/contract/entities.ts';
import { entityStatus } from '../../../../api/contract/entities.ts';
import { RETRY_OF_ANNOTATION } from '../../../../api/contract/migrations.ts';
import { retryNow, retryOperation } from '../../../../api/contract/operations.ts';
import { instanceId, migrationId } from '../../../../api/contract/refs.ts';
import type { Triggered, TriggerEffect } from '../../../../api/contract/triggers.ts';
import { KUBEVIRT_API_VERSION } from '../../../../api/kubevirt/types.ts';
import type { VirtualMachineInstanceMigration } from '../../../../api/kubevirt/types.ts';
import { refOf } from '../../../facts/virtual-machine.ts';
import { failure } from '../../../failures.ts';
import { migrationsOf, unfinished } from '../../migration/read.ts';
import type { ControllerPorts } from '../../ports.ts';
import { createTriggered, findTriggered } from './migrate.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'workflows'>;

/**
 * Has the instance's failed operation begun anew, ends the wait of the one under way, or creates a VMIM in place of the one that failed last. The
 * Updates carry the trigger's id, so that they are done once. @throws Refused
 */
export const retry = async ({ kube, workflows }: Ports, trigger: Triggered): Promise<TriggerEffect> => {
  const { vm, instance, operationId } = trigger;
  const entity = instanceId({ ...vm, uid: instance });
  const made = await findTriggered(kube, trigger);
  if (made !== undefined) return made;
  const again = await workflows.update<{ operationId: string }>(entity, retryOperation.name, operationId);
  if ('result' in again) {
    const retried = again.result.operationId;
    return { message: `${retried} started`, retried };
  }
  const migrations = await migrationsOf(kube, vm.namespace, vm.name);
  const open = unfinished(migrations);
  const { operation } = (await workflows.query<EntityStatus>(entity, entityStatus.name)) ?? {};
  const underWay = operation ?? (open === undefined ? undefined : migrationId(refOf(open)));
  if (underWay !== undefined) {
    const ended = await workflows.update<{ step: string }>(underWay, retryNow.name, operationId);
    if ('refusal' in ended) throw failure('Refused', `${underWay} is under way: ${ended.refusal}`);
    return { message: `${underWay}: step ${ended.result.step} is tried again`, retried: underWay };
  }
  const newest = migrations.at(-1);
  if (newest?.status?.phase === 'Failed') return createTriggered(kube, trigger, another(newest));
  throw failure('Refused', `nothing to retry: ${again.refusal}`);
};

/** A migration is asked for by an object, so a new attempt is a new object. */
const another = ({ metadata, spec }: VirtualMachineInstanceMigration): VirtualMachineInstanceMigration => ({
  ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstanceMigration' },
  metadata: {
    namespace: metadata?.namespace ?? '',
    annotations: { [RETRY_OF_ANNOTATION]: metadata?.name ?? '' },
  },
  spec,
});
