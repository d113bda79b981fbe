import type { KubePort } from '../../../activities/kube/port.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { conflict, notFound } from '../../../api/subresources/status.ts';

export interface ObjectName {
  namespace: string;
  name: string;
}

type Reader = Pick<KubePort, 'get'>;

/** The VM as it is now, with its instance if there is one. @throws KubeError */
export const readPair = async (
  kube: Reader,
  object: ObjectName,
): Promise<
  { vm: VirtualMachine; vmi: VirtualMachineInstance | undefined; refusal?: undefined } | { refusal: Status }
> => {
  const [vm, vmi] = await Promise.all([kube.get('VirtualMachine', object), kube.get('VirtualMachineInstance', object)]);
  return vm === undefined ? { refusal: notFound('virtualmachine', object.name) } : { vm, vmi };
};

type FoundInstance = { vmi: VirtualMachineInstance; refusal?: undefined } | { refusal: Status };

/** The instance as it is now. @throws KubeError */
export const readInstance = async (kube: Reader, object: ObjectName): Promise<FoundInstance> => {
  const vmi = await kube.get('VirtualMachineInstance', object);
  return vmi === undefined ? { refusal: notFound('virtualmachineinstance', object.name) } : { vmi };
};

/** The instance that a VM has now; one of the same name that is not its own is none. @throws KubeError */
export const readInstanceOfVm = async (kube: Reader, object: ObjectName): Promise<FoundInstance> => {
  const pair = await readPair(kube, object);
  if (pair.refusal !== undefined) return pair;
  const { vm, vmi } = pair;
  const isOwn = vmi?.metadata?.ownerReferences?.some(({ uid }) => uid === vm.metadata?.uid) ?? false;
  return vmi !== undefined && isOwn
    ? { vmi }
    : { refusal: conflict('virtualmachine', object.name, 'VMI is not started') };
};
