import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { LEGACY_VMI_FINALIZER, VM_FINALIZER, VMI_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { excluding, setFinalizers } from '../finalizers.ts';
import type { TokenPorts } from '../ports.ts';
import { instanceWriter } from './publish-instance.ts';
import { findInstance } from './read.ts';

type Ports = TokenPorts & Parameters<typeof instanceWriter>[0];

/**
 * Writes the VMI's last status, then removes virtflow's finalizers from it; a bare VMI's free token goes with it (a VM keeps its token). Object gone:
 * does nothing.
 */
export const releaseInstance = (ports: Ports): ControllerActivities['releaseInstance'] => {
  const { kube, tokens } = ports;
  const publish = instanceWriter(ports);
  /** One that is refused keeps nobody. */
  const tellLast = async (vmi: ObjectRef, report: InstanceReport): Promise<VirtualMachineInstance | undefined> => {
    try {
      return await publish({ vmi, report });
    } catch (error) {
      ports.log.warn({ err: error, vmi }, 'last status not written');
      return undefined;
    }
  };
  return async ({ vmi: ref, report }) => {
    let written = report && (await tellLast(ref, report));
    await onConflictAgain(async () => {
      const vmi = written ?? (await findInstance(kube, ref));
      written = undefined;
      if (vmi === undefined) return;
      if (instanceFacts(vmi).owner === undefined) await tokens.dropFree(ref);
      const rest = excluding(VMI_FINALIZER, LEGACY_VMI_FINALIZER, VM_FINALIZER);
      await ifStillThere(setFinalizers(kube, 'VirtualMachineInstance', vmi, rest));
    });
  };
};
