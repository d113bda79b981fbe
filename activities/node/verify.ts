import type { PodRef, ObjectRef } from '../../api/contract/refs.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { CREATED_BY_LABEL } from '../facts/labels.ts';
import { readableInstance } from '../facts/readable.ts';
import { failure } from '../failures.ts';
import type { NodePorts } from './ports.ts';

/** The Pod that a request is about. */
export interface OnPod {
  vmi: ObjectRef;
  pod: PodRef;
}

/**
 * Live read of the Pod; undefined: the API server knows no Pod of this uid (any more), and the request places it on this node.
 * @throws ObjectGone when the Pod is not this node's or was not created for this VMI
 */
export const verifyPod = async (
  { kube, node }: Pick<NodePorts, 'kube' | 'node'>,
  { vmi, pod }: OnPod,
): Promise<Pod | undefined> => {
  const named = `Pod ${vmi.namespace}/${pod.name} (uid ${pod.uid})`;
  const live = await kube.get('Pod', { namespace: vmi.namespace, name: pod.name });
  if (live?.metadata?.uid !== pod.uid) {
    if (pod.node === node) return undefined;
    throw failure('ObjectGone', `${named} is gone, and nothing says that it was on node ${node}`);
  }
  if (live.spec?.nodeName !== node) {
    throw failure('ObjectGone', `${named} is on node ${live.spec?.nodeName ?? '(none)'}, not on ${node}`);
  }
  if (live.metadata.labels?.[CREATED_BY_LABEL] !== vmi.uid) {
    throw failure('ObjectGone', `${named} was not created for VMI ${vmi.name} (uid ${vmi.uid})`);
  }
  return live;
};

/** As verifyPod, for what only a Pod that exists can be asked. @throws PodFailed, ObjectGone */
export const verifyLivePod = async (ports: Pick<NodePorts, 'kube' | 'node'>, request: OnPod): Promise<Pod> => {
  const pod = await verifyPod(ports, request);
  const named = `launcher Pod ${request.vmi.namespace}/${request.pod.name}`;
  if (pod === undefined) throw failure('PodFailed', `${named} is gone`);
  const phase = pod.status?.phase;
  if (phase === 'Failed' || phase === 'Succeeded') {
    throw failure('PodFailed', `${named} has ended: ${pod.status?.message ?? pod.status?.reason ?? phase}`);
  }
  return pod;
};

/** Live read of the VMI. @throws ObjectGone, InvalidSpec */
export const readInstance = async (
  { kube }: Pick<NodePorts, 'kube'>,
  { namespace, name, uid }: ObjectRef,
): Promise<VirtualMachineInstance> => {
  const vmi = await kube.get('VirtualMachineInstance', { namespace, name });
  if (vmi?.metadata?.uid !== uid) throw failure('ObjectGone', `VMI ${namespace}/${name} (uid ${uid}) is gone`);
  return readableInstance(vmi);
};
