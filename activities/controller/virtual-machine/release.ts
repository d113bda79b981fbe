import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { VM_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import { excluding, setFinalizers } from '../finalizers.ts';
import type { TokenPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { findVirtualMachine } from './read.ts';

/** Removes the finalizer from the VM and, if nobody holds it, its run token. Object gone: does nothing. */
export const releaseVirtualMachine =
  ({ kube, tokens }: TokenPorts): ControllerActivities['releaseVirtualMachine'] =>
  async (ref) => {
    await onConflictAgain(async () => {
      const vm = await findVirtualMachine(kube, ref);
      if (vm === undefined) return;
      await tokens.dropFree(ref);
      await ifStillThere(setFinalizers(kube, 'VirtualMachine', vm, excluding(VM_FINALIZER)));
    });
  };
