import type { PodFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import { failure } from '../../failures.ts';
import { liveFence } from '../../fencing.ts';
import type { KubePort } from '../../kube/port.ts';
import { launcherPodsNamed } from '../pods.ts';
import { rivals } from './decide.ts';

/**
 * Looks, live, for launcher Pods of this VM's name that may still run a domain.
 * @returns whether none can, now or later, whoever's it is
 * @throws TokenHeld
 */
export const refuseRivals = async (
  kube: KubePort,
  vmi: ObjectRef,
  isOurs: (pod: PodFacts) => boolean,
): Promise<boolean> => {
  const pods = await launcherPodsNamed(kube, vmi);
  for (const pod of rivals(pods, isOurs)) {
    if (pod.node !== undefined && (await liveFence(kube, pod.node)) !== undefined) continue;
    const who = `Pod ${pod.name} (${pod.uid}) of VMI ${pod.createdBy} on node ${pod.node}`;
    throw failure('TokenHeld', `${who} may still run a domain on the same disks. ${remedy(vmi, pod.node)}`);
  }
  return pods.every(({ provenEnded }) => provenEnded);
};

/** What people can do about a token that is held. */
export const remedy = (vmi: ObjectRef, node: string | undefined): string =>
  'It is taken over as soon as that is proven to have ended. ' +
  `If its node is dead and stays off: virtflow fence ${node ?? '<node>'}; ` +
  `if you are sure that no such guest runs, delete Lease ${vmi.namespace}/${tokenName(vmi)} and that Pod.`;
