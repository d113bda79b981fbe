import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { PodFacts } from '../../../api/contract/facts.ts';
import type { PodRef } from '../../../api/contract/refs.ts';
import { describeFence } from '../../../api/fencing/index.ts';
import { podFacts } from '../../facts/pod.ts';
import { liveFence } from '../../fencing.ts';
import type { KubePort } from '../../kube/port.ts';
import { readPod } from '../pods.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';

/** Live read; `gone: true` when the API server says that there is none with this uid. Whether its node is fenced only where that matters. */
export const observePod =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['observePod'] =>
  async ({ vmi, pod, evidence }) => {
    const found = await readPod(kube, vmi, pod);
    const node = found.node ?? pod.node;
    if (evidence === undefined || found.provenEnded || node === undefined) return found;
    const fence = await liveFence(kube, node);
    return fence === undefined ? found : { ...found, fenced: describeFence(node, fence) };
  };

/** The least that a kubelet gives: its word about the end of each container still comes. */
const NO_GUEST_GRACE_SECONDS = 2;

/**
 * Deletes the Pod (by uid) and returns what is left of it, a moment later. Asks only once, unless there is no guest to wait for: a container that was
 * told to stop before it listened would otherwise stay for the whole grace period. Forces only on a fenced node: no kubelet there will ever confirm its
 * end.
 */
export const deletePod =
  (ports: Pick<ControllerPorts, 'kube' | 'log' | 'cached' | 'removed'>): ControllerActivities['deletePod'] =>
  async ({ vmi, pod, holdsNoGuest = false }) => {
    const { kube } = ports;
    const found = unasked(ports, pod) ?? (await readPod(kube, vmi, pod));
    if (found.gone === true) return found;
    const isForced = found.deleting && (await isOnFencedNode(kube, found));
    if (found.deleting && !holdsNoGuest && !isForced) return found;
    const grace = isForced ? 0 : holdsNoGuest ? NO_GUEST_GRACE_SECONDS : undefined;
    const left = await kube.remove(
      'Pod',
      { namespace: vmi.namespace, name: pod.name },
      { uid: pod.uid, ...(grace === undefined ? {} : { gracePeriodSeconds: grace }) },
    );
    const message = `Deleted virtual machine pod ${pod.name}`;
    const event = { kind: 'VirtualMachineInstance', ref: vmi, reason: 'SuccessfulDelete', message } as const;
    await Promise.all([
      recordEvent(ports, { ...event, once: pod.uid }),
      // Of a Pod that may go at once its event is close.
      left === undefined ? undefined : ports.removed?.(pod.uid),
    ]);
    return readPod(kube, vmi, pod);
  };

/** As a watch has shown the Pod, if nobody had asked it to go. */
const unasked = ({ cached }: Pick<ControllerPorts, 'cached'>, { uid }: PodRef): PodFacts | undefined => {
  const pod = cached?.('Pod', uid);
  return pod === undefined || pod.metadata?.deletionTimestamp !== undefined ? undefined : podFacts(pod);
};

const isOnFencedNode = async (kube: KubePort, { node }: PodFacts): Promise<boolean> =>
  node !== undefined && (await liveFence(kube, node)) !== undefined;
