import type { PodFacts } from '../../api/contract/facts.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { APP_LABEL, CREATED_BY_LABEL, INSTANCE_LABEL, LAUNCHER_APP } from '../facts/labels.ts';
import { podFacts } from '../facts/pod.ts';
import type { KubePort } from '../kube/port.ts';
import { instanceLabel as labelOf } from './launch-manifest/names.ts';

/** Every launcher Pod that a VMI created, live read. */
export const podsCreatedBy = async (kube: KubePort, vmi: ObjectRef): Promise<PodFacts[]> => {
  const labelSelector = `${APP_LABEL}=${LAUNCHER_APP},${CREATED_BY_LABEL}=${vmi.uid}`;
  return (await kube.list('Pod', { namespace: vmi.namespace, labelSelector })).map(podFacts);
};

/** Every launcher Pod of any VMI with this name, live read. */
export const launcherPodsNamed = async (kube: KubePort, vmi: ObjectRef): Promise<PodFacts[]> => {
  const labelSelector = `${APP_LABEL}=${LAUNCHER_APP},${INSTANCE_LABEL}=${labelOf({ metadata: { name: vmi.name } })}`;
  return (await kube.list('Pod', { namespace: vmi.namespace, labelSelector })).map(podFacts);
};

/** Live read of one Pod; `gone: true` when there is none with this uid. */
export const readPod = async (kube: KubePort, vmi: ObjectRef, pod: PodRef): Promise<PodFacts> => {
  const found = await kube.get('Pod', { namespace: vmi.namespace, name: pod.name });
  return found?.metadata?.uid === pod.uid ? podFacts(found) : gonePod(vmi, pod);
};

const gonePod = (vmi: ObjectRef, { name, uid, node }: PodRef): PodFacts => ({
  name,
  uid,
  resourceVersion: '',
  createdBy: vmi.uid,
  ...(node === undefined ? {} : { node }),
  phase: 'Unknown',
  deleting: true,
  computeReady: false,
  provenEnded: false,
  gone: true,
});
