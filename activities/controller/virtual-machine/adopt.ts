import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { VM_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../facts/instance.ts';
import type { KubePort } from '../../kube/port.ts';
import { including, setFinalizers } from '../finalizers.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { ownerReference, readVirtualMachine } from './read.ts';

/** Puts the finalizer on the VM (not on one that is being deleted) and reads its VMI. @throws ObjectGone */
export const adoptVirtualMachine =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['adoptVirtualMachine'] =>
  async (ref) => {
    const vm = await onConflictAgain(async () => {
      const found = await readVirtualMachine(kube, ref);
      return found.metadata?.deletionTimestamp === undefined ? withFinalizer(kube, found) : found;
    });
    const vmi = await kube.get('VirtualMachineInstance', ref);
    const own = vmi === undefined ? undefined : await claimed(kube, vm, vmi);
    return own === undefined || !isOwned(own, ref) ? undefined : instanceFacts(own);
  };

/** @throws KubeError, a conflict when the VM changed since it was read */
export const withFinalizer = (kube: KubePort, vm: VirtualMachine): Promise<VirtualMachine> =>
  setFinalizers(kube, 'VirtualMachine', vm, including(VM_FINALIZER));

/**
 * The VMI, which becomes the VM's if nobody controls it, as one whose VM was deleted without it; undefined when it is gone by then. A VMI or VM that
 * is being deleted stays as it is, and so does a VMI that belongs to somebody else.
 */
export const claimed = async (
  kube: KubePort,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): Promise<VirtualMachineInstance | undefined> => {
  const { uid, resourceVersion, ownerReferences = [], finalizers = [], deletionTimestamp } = vmi.metadata ?? {};
  const isTaken = ownerReferences.some(({ controller }) => controller === true);
  if (isTaken || deletionTimestamp !== undefined || vm.metadata?.deletionTimestamp !== undefined) return vmi;
  const name = { namespace: vmi.metadata?.namespace ?? '', name: vmi.metadata?.name ?? '' };
  const metadata = {
    ...{ uid, resourceVersion, ownerReferences: [...ownerReferences, ownerReference(vm)] },
    finalizers: including(VM_FINALIZER)(finalizers),
  };
  return ifStillThere(kube.mergePatch('VirtualMachineInstance', name, { metadata }));
};

export const isOwned = (vmi: VirtualMachineInstance, vm: ObjectRef): boolean =>
  instanceFacts(vmi).owner?.uid === vm.uid;
