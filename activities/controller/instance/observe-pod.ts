import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { readPod } from '../pods.ts';
import type { ControllerPorts } from '../ports.ts';

/** Live read; `gone: true` when the API server says that there is none with this uid. */
export const observePod =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['observePod'] =>
  ({ vmi, pod }) =>
    readPod(kube, vmi, pod);

/** The least that a kubelet gives: its word about the end of each container still comes. */
const NO_GUEST_GRACE_SECONDS = 2;

/**
 * Deletes the Pod (by uid) and returns what is left of it. Never forces, and asks only once, unless there is no guest to wait for: a container that
 * was told to stop before it listened would otherwise stay for the whole grace period.
 */
export const deletePod =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['deletePod'] =>
  async ({ vmi, pod, holdsNoGuest = false }) => {
    const found = await readPod(kube, vmi, pod);
    if (found.gone === true || (found.deleting && !holdsNoGuest)) return found;
    const grace = holdsNoGuest ? { gracePeriodSeconds: NO_GUEST_GRACE_SECONDS } : {};
    await kube.remove('Pod', { namespace: vmi.namespace, name: pod.name }, { uid: pod.uid, ...grace });
    return readPod(kube, vmi, pod);
  };
