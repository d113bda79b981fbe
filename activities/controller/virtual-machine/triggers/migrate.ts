import { createHash } from 'node:crypto';
import { TRIGGERED_BY_ANNOTATION } from '../../../../api/contract/triggers.ts';
import type { Triggered, TriggerEffect } from '../../../../api/contract/triggers.ts';
import type { VirtualMachineInstanceMigration } from '../../../../api/kubevirt/types.ts';
import { decideLifecycle } from '../../../../api/subresources/lifecycle.ts';
import { refOf } from '../../../facts/virtual-machine.ts';
import { failure } from '../../../failures.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubePort } from '../../../kube/port.ts';
import { optionsOf, readPair } from './read.ts';

const KIND = 'VirtualMachineInstanceMigration';

/** Creates the trigger's VMIM, or finds it. @throws Refused, ObjectGone */
export const migrate = async (kube: KubePort, trigger: Triggered): Promise<TriggerEffect> => {
  const known = await findTriggered(kube, trigger);
  if (known !== undefined) return known;
  const pair = await readPair(kube, trigger.vm);
  if (pair.vmi !== undefined && pair.vmi.metadata?.uid !== trigger.instance)
    throw failure(
      'Refused',
      `instance ${trigger.instance}, which was to migrate, has ended; another one came after it.`,
    );
  const decision = decideLifecycle('migrate', pair, optionsOf('migrate', trigger.options));
  if (decision.refusal !== undefined) throw failure('Refused', decision.refusal.message);
  const created = decision.writes.flatMap((write) => ('create' in write ? [write.create] : []))[0];
  if (created === undefined) throw new TypeError('a migration is an object');
  return createTriggered(kube, trigger, created);
};

/** Derives from the operation, so that there is one, whoever asks and however often. */
const nameOf = ({ operationId }: Triggered): string =>
  `kubevirt-migrate-vm-${createHash('sha256').update(operationId).digest('hex').slice(0, 16)}`;

/** The VMIM that the trigger has created; undefined: none so far. */
export const findTriggered = async (kube: KubePort, trigger: Triggered): Promise<TriggerEffect | undefined> => {
  const vmim = await kube.get(KIND, { namespace: trigger.vm.namespace, name: nameOf(trigger) });
  return vmim === undefined ? undefined : effectOf(vmim);
};

/** Creates the VMIM under the trigger's name. @throws KubeError */
export const createTriggered = async (
  kube: KubePort,
  trigger: Triggered,
  { metadata, ...vmim }: VirtualMachineInstanceMigration,
): Promise<TriggerEffect> => {
  const { generateName: _, annotations, ...rest } = metadata ?? {};
  const name = nameOf(trigger);
  try {
    const made = await kube.create(KIND, {
      ...vmim,
      metadata: { ...rest, name, annotations: { ...annotations, [TRIGGERED_BY_ANNOTATION]: trigger.operationId } },
    });
    return effectOf(made);
  } catch (error) {
    const raced = isAlreadyExists(error) ? await findTriggered(kube, trigger) : undefined;
    if (raced === undefined) throw error;
    return raced;
  }
};

const effectOf = (vmim: VirtualMachineInstanceMigration): TriggerEffect => ({
  message: `${KIND} ${vmim.metadata?.name ?? ''} created`,
  vmim: refOf(vmim),
});
