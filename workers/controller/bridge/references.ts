import { refOf } from '../../../activities/facts/virtual-machine.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Instancetype, Preference, ReferencedKind } from '../../../api/instancetypes/index.ts';
import { isClusterWide, kindOf, REFERENCES, storedRevision } from '../../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { Change } from '../../shared/informer.ts';

/** VMs that refer to an instance type or preference that has come, or changed, and keep no copy of it yet: they may have been waiting for it. */
export const waitingFor = (
  kind: ReferencedKind,
  { before, after }: Change<Instancetype | Preference>,
  virtualMachines: () => VirtualMachine[],
): ObjectRef[] => {
  if (after === undefined || before?.metadata?.generation === after.metadata?.generation) return [];
  const { namespace, name } = after.metadata ?? {};
  return virtualMachines()
    .filter((vm) =>
      REFERENCES.some((field) => {
        const matcher = vm.spec[field];
        const isMeant = matcher?.name === name && matcher !== undefined && kindOf(field, matcher) === kind;
        const isInReach = isClusterWide(kind) || vm.metadata?.namespace === namespace;
        return isMeant && isInReach && storedRevision(vm, field) === undefined;
      }),
    )
    .map(refOf);
};
