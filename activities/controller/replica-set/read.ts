import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { REPLICA_SET } from '../../facts/replica-set.ts';
import type { KubePort } from '../../kube/port.ts';

/** Live read; undefined when there is none with this uid. */
export const findReplicaSet = async (
  kube: KubePort,
  ref: ObjectRef,
): Promise<VirtualMachineInstanceReplicaSet | undefined> => {
  const set = await kube.get(REPLICA_SET, ref);
  return set?.metadata?.uid === ref.uid ? set : undefined;
};
