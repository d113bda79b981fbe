import { isTrue } from '../../../api/kubernetes/conditions.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { controllerOf, isSelected, replicaOf } from '../../../activities/facts/replica-set.ts';
import type { Change } from '../../shared/informer.ts';

/** Replica sets whose VMIs a change of a VMI may concern: its owner, or whoever may make it its own. */
export const replicaSetsAfterInstance = (
  { before, after }: Change<VirtualMachineInstance>,
  sets: () => VirtualMachineInstanceReplicaSet[],
): VirtualMachineInstanceReplicaSet[] => {
  if (instanceDigest(before) === instanceDigest(after)) return [];
  const vmis = [before, after].filter((vmi) => vmi !== undefined);
  return sets().filter((set) =>
    vmis.some((vmi) => {
      const owner = controllerOf(vmi);
      return owner === undefined ? isSelected(vmi, set) : owner === set.metadata?.uid;
    }),
  );
};

/** What of a VMI makes a difference to its replica set. */
const instanceDigest = (vmi: VirtualMachineInstance | undefined): string =>
  vmi === undefined
    ? ''
    : JSON.stringify([
        ...[replicaOf(vmi).standing, isTrue(vmi, 'Ready'), controllerOf(vmi)],
        Object.entries(vmi.metadata?.labels ?? {}).sort(),
      ]);

/** What a replica set's user asks for: its status is its workflow's own word. */
export const replicaSetMatters = ({ before, after }: Change<VirtualMachineInstanceReplicaSet>): boolean =>
  setDigest(before) !== setDigest(after);

const setDigest = (set: VirtualMachineInstanceReplicaSet | undefined): string =>
  set === undefined ? '' : JSON.stringify([set.metadata?.uid, set.metadata?.deletionTimestamp, set.spec]);
