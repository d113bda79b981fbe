import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { readPod } from '../pods.ts';
import type { ControllerPorts } from '../ports.ts';

/** Live read; `gone: true` when the API server says that there is none with this uid. */
export const observePod =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['observePod'] =>
  ({ vmi, pod }) =>
    readPod(kube, vmi, pod);

/** Deletes the Pod (by uid) with its own grace period and returns what is left of it. Never forces, and asks only once. */
export const deletePod =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['deletePod'] =>
  async ({ vmi, pod }) => {
    const found = await readPod(kube, vmi, pod);
    if (found.gone === true || found.deleting) return found;
    await kube.remove('Pod', { namespace: vmi.namespace, name: pod.name }, { uid: pod.uid });
    return readPod(kube, vmi, pod);
  };
