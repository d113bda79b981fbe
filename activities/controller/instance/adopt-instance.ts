import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../facts/instance.ts';
import type { Token } from '../../facts/token.ts';
import { runToken } from '../../facts/token.ts';
import { podsCreatedBy } from '../pods.ts';
import type { ControllerPorts, TokenPorts } from '../ports.ts';
import { findInstance } from './read.ts';

/** Everything the API server knows of a VMI: the object, its run token, its Pods. Live reads. */
export const adoptInstance =
  ({ kube, tokens, around }: TokenPorts & Pick<ControllerPorts, 'around'>): ControllerActivities['adoptInstance'] =>
  async (ref) => {
    const [vmi, read] = await Promise.all([findInstance(kube, ref), tokens.read(ref)]);
    // Three witnesses: the last one, which may be behind, only speaks for a look.
    const isNew = hasNeverBegun(ref, vmi, read?.token) && around?.launcherPods(ref.uid).length === 0;
    return {
      ...(vmi === undefined ? {} : { instance: instanceFacts(vmi) }),
      ...(read === undefined ? {} : { token: runToken(read.token) }),
      pods: isNew ? [] : await podsCreatedBy(kube, ref),
    };
  };

/**
 * No start of the VMI has come so far that there can be a Pod: a Pod comes after its token, and both object and token, read live, know of none. Were a
 * token removed by hand: a start looks for other Pods of the VM before it takes it.
 */
const hasNeverBegun = (
  { uid }: ObjectRef,
  vmi: VirtualMachineInstance | undefined,
  token: Token | undefined,
): boolean => {
  if (vmi === undefined || token?.holder?.vmiUid === uid) return false;
  const { phase = 'Pending', activePods, nodeName } = vmi.status ?? {};
  return phase === 'Pending' && nodeName === undefined && Object.keys(activePods ?? {}).length === 0;
};
