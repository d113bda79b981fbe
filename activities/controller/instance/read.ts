import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';

/** Live read; undefined when there is none with this uid. */
export const findInstance = async (kube: KubePort, ref: ObjectRef): Promise<VirtualMachineInstance | undefined> => {
  const vmi = await kube.get('VirtualMachineInstance', ref);
  return vmi?.metadata?.uid === ref.uid ? vmi : undefined;
};

/** Live read. @throws ObjectGone */
export const readInstance = async (kube: KubePort, ref: ObjectRef): Promise<VirtualMachineInstance> => {
  const vmi = await findInstance(kube, ref);
  if (vmi === undefined) {
    throw failure('ObjectGone', `VirtualMachineInstance ${ref.namespace}/${ref.name} (${ref.uid}) is gone.`);
  }
  return vmi;
};

/** As a watch has shown the VMI, if that is enough for the caller; else a live read. @throws ObjectGone */
export const knownInstance = async (
  { kube, cached }: Pick<ControllerPorts, 'kube' | 'cached'>,
  ref: ObjectRef,
  isEnough: (vmi: VirtualMachineInstance) => boolean = () => true,
): Promise<VirtualMachineInstance> => {
  const known = cached?.('VirtualMachineInstance', ref.uid);
  return known !== undefined && isEnough(known) ? known : readInstance(kube, ref);
};
