import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';

const KIND = 'VirtualMachineInstanceMigration';

/** Live read; undefined when there is none with this uid. */
export const findMigration = async (
  kube: KubePort,
  ref: ObjectRef,
): Promise<VirtualMachineInstanceMigration | undefined> => {
  const vmim = await kube.get(KIND, ref);
  return vmim?.metadata?.uid === ref.uid ? vmim : undefined;
};

/** Live read. @throws ObjectGone */
export const readMigration = async (kube: KubePort, ref: ObjectRef): Promise<VirtualMachineInstanceMigration> => {
  const vmim = await findMigration(kube, ref);
  if (vmim === undefined) throw failure('ObjectGone', `${KIND} ${ref.namespace}/${ref.name} (${ref.uid}) is gone.`);
  return vmim;
};

/** Every migration of the VMI with this name, live read; oldest first, by uid those of the same second. */
export const migrationsOf = async (
  kube: KubePort,
  namespace: string,
  vmiName: string,
): Promise<VirtualMachineInstanceMigration[]> =>
  (await kube.list(KIND, { namespace })).filter((vmim) => vmiNameOf(vmim) === vmiName).sort(byAge);

/** The type says that there is a spec; an object of the API server need not keep to it. */
const vmiNameOf = (vmim: VirtualMachineInstanceMigration): unknown =>
  (vmim as Partial<VirtualMachineInstanceMigration>).spec?.vmiName;

/** The first that is not over. */
export const unfinished = <V extends VirtualMachineInstanceMigration>(vmims: readonly V[]): V | undefined =>
  vmims.find(({ status }) => !isFinal(status?.phase));

export const byAge = (a: VirtualMachineInstanceMigration, b: VirtualMachineInstanceMigration): number =>
  age(a).localeCompare(age(b));

const age = ({ metadata }: VirtualMachineInstanceMigration): string =>
  `${metadata?.creationTimestamp ?? ''} ${metadata?.uid ?? ''}`;
