import type { PodFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { CREATED_BY_LABEL } from '../../facts/labels.ts';
import { podFacts } from '../../facts/pod.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import type { ObjectEvent } from '../record-event.ts';
import { recordEvent } from '../record-event.ts';
import { outlastingSilence } from './outlasting.ts';
import { refuseRivals } from '../token/rivals.ts';

interface WantedPod {
  vmi: VirtualMachineInstance;
  manifest: Pod;
  /** The Pod of this purpose that the run token names: it was there, so that none is made in its place. */
  named: Pick<PodRef, 'name' | 'uid'> | undefined;
  /** Uids of Pods of the VMI that may run its domain beside it. */
  besides: string[];
  /** No other Pod can run the domain: that was seen when the token was taken, and whoever made one since would have had to take it. */
  isAlone?: boolean;
  event: Pick<ObjectEvent, 'kind' | 'ref' | 'message'>;
}

/**
 * Creates the Pod, or returns the one that has its name: names derive from what a Pod is for, so there is never a second.
 * @throws QuotaExceeded, Forbidden, TokenHeld (another Pod may run the domain), PodFailed, ObjectGone
 */
export const ensurePod = async (
  ports: Pick<ControllerPorts, 'kube' | 'log'>,
  { vmi, manifest, named, besides, isAlone = false, event }: WantedPod,
): Promise<PodFacts> => {
  const { kube } = ports;
  const ref = refOf(vmi);
  const name = manifest.metadata?.name ?? '';
  const isDeleting = vmi.metadata?.deletionTimestamp !== undefined;
  if (!isAlone || named !== undefined || isDeleting) {
    // Both are live reads; what the second refuses counts only where a Pod is to be made.
    const unrivalled = isAlone
      ? undefined
      : refuseRivals(kube, ref, (pod) => pod.name === name || besides.includes(pod.uid));
    unrivalled?.catch(() => undefined);
    const existing = await findOurs(kube, ref, name);
    if (existing !== undefined) return existing;
    if (named !== undefined) throw failure('PodFailed', `Pod ${ref.namespace}/${named.name} (${named.uid}) is gone.`);
    if (isDeleting)
      throw failure('ObjectGone', `VirtualMachineInstance ${ref.namespace}/${ref.name} is being deleted.`);
    await unrivalled;
  }
  try {
    const created = podFacts(await kube.create('Pod', outlastingSilence(manifest)));
    await recordEvent(ports, { ...event, reason: 'SuccessfulCreate', message: `${event.message} ${created.name}` });
    return created;
  } catch (error) {
    const raced = isAlreadyExists(error) ? await findOurs(kube, ref, name) : undefined;
    if (raced === undefined) throw error;
    return raced;
  }
};

/** The Pod of this name, which the VMI has created; undefined: there is none. @throws Forbidden (it is somebody else's) */
const findOurs = async (kube: KubePort, vmi: ObjectRef, name: string): Promise<PodFacts | undefined> => {
  const { namespace } = vmi;
  const pod = await kube.get('Pod', { namespace, name });
  if (pod === undefined) return undefined;
  if (pod.metadata?.labels?.[CREATED_BY_LABEL] === vmi.uid) return podFacts(pod);
  const message = `Pod ${namespace}/${name} has the name of our launcher Pod but was not created by it. Delete it.`;
  throw failure('Forbidden', message);
};
