import type { ObjectRef } from '../../../api/contract/refs.ts';
import { KUBEVIRT_API_VERSION } from '../../../api/kubevirt/types.ts';
import type { OwnerReference } from '../../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';

/** Live read; undefined when there is none with this uid. */
export const findVirtualMachine = async (kube: KubePort, ref: ObjectRef): Promise<VirtualMachine | undefined> => {
  const vm = await kube.get('VirtualMachine', ref);
  return vm?.metadata?.uid === ref.uid ? vm : undefined;
};

/** Live read. @throws ObjectGone */
export const readVirtualMachine = async (kube: KubePort, ref: ObjectRef): Promise<VirtualMachine> => {
  const vm = await findVirtualMachine(kube, ref);
  if (vm === undefined)
    throw failure('ObjectGone', `VirtualMachine ${ref.namespace}/${ref.name} (${ref.uid}) is gone.`);
  return vm;
};

/** Live read of the VMI that has the VM's name, if the VM owns it. */
export const findOwnedInstance = async (kube: KubePort, vm: ObjectRef): Promise<VirtualMachineInstance | undefined> => {
  const vmi = await kube.get('VirtualMachineInstance', vm);
  return vmi !== undefined && instanceFacts(vmi).owner?.uid === vm.uid ? vmi : undefined;
};

/** What an object that the VM controls says of its owner. */
export const ownerReference = ({ metadata }: VirtualMachine): OwnerReference => ({
  apiVersion: KUBEVIRT_API_VERSION,
  kind: 'VirtualMachine',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});
