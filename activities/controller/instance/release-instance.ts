import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { LEGACY_VMI_FINALIZER, VM_FINALIZER, VMI_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { excluding, setFinalizers } from '../finalizers.ts';
import type { TokenPorts } from '../ports.ts';
import { findInstance } from './read.ts';

/** Removes virtflow's finalizers from the VMI; a bare VMI's free token goes with it (a VM keeps its token). Object gone: does nothing. */
export const releaseInstance =
  ({ kube, tokens }: TokenPorts): ControllerActivities['releaseInstance'] =>
  async (ref) => {
    await onConflictAgain(async () => {
      const vmi = await findInstance(kube, ref);
      if (vmi === undefined) return;
      if (instanceFacts(vmi).owner === undefined) await tokens.dropFree(ref);
      const rest = excluding(VMI_FINALIZER, LEGACY_VMI_FINALIZER, VM_FINALIZER);
      await ifStillThere(setFinalizers(kube, 'VirtualMachineInstance', vmi, rest));
    });
  };
