import type { PodFacts } from '../../../api/contract/facts.ts';
import type { PodRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { CREATED_BY_LABEL } from '../../facts/labels.ts';
import { podFacts } from '../../facts/pod.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
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
  event: Pick<ObjectEvent, 'kind' | 'ref' | 'message'>;
}

/**
 * Creates the Pod, or returns the one that has its name: names derive from what a Pod is for, so there is never a second.
 * @throws QuotaExceeded, Forbidden, TokenHeld (another Pod may run the domain), PodFailed, ObjectGone
 */
export const ensurePod = async (
  ports: Pick<ControllerPorts, 'kube' | 'log'>,
  { vmi, manifest, named, besides, event }: WantedPod,
): Promise<PodFacts> => {
  const { kube } = ports;
  const ref = refOf(vmi);
  const { namespace, name = '' } = { namespace: ref.namespace, name: manifest.metadata?.name };
  // Both are live reads; what the second refuses counts only where a Pod is to be made.
  const unrivalled = refuseRivals(kube, ref, (pod) => pod.name === name || besides.includes(pod.uid));
  unrivalled.catch(() => undefined);
  const existing = await kube.get('Pod', { namespace, name });
  if (existing !== undefined) return ours(existing, ref.uid);
  if (named !== undefined) throw failure('PodFailed', `Pod ${namespace}/${named.name} (${named.uid}) is gone.`);
  if (vmi.metadata?.deletionTimestamp !== undefined) {
    throw failure('ObjectGone', `VirtualMachineInstance ${namespace}/${ref.name} is being deleted.`);
  }
  await unrivalled;
  try {
    const created = podFacts(await kube.create('Pod', outlastingSilence(manifest)));
    await recordEvent(ports, { ...event, reason: 'SuccessfulCreate', message: `${event.message} ${created.name}` });
    return created;
  } catch (error) {
    const raced = isAlreadyExists(error) ? await kube.get('Pod', { namespace, name }) : undefined;
    if (raced === undefined) throw error;
    return ours(raced, ref.uid);
  }
};

const ours = (pod: Pod, vmiUid: string): PodFacts => {
  if (pod.metadata?.labels?.[CREATED_BY_LABEL] === vmiUid) return podFacts(pod);
  const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
  throw failure('Forbidden', `Pod ${name} has the name of our launcher Pod but was not created by it. Delete it.`);
};
