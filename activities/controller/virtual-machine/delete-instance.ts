import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { goneInstance, instanceFacts } from '../../facts/instance.ts';
import { findInstance } from '../instance/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';

/** Deletes the VMI by uid and returns what is left of it; with `gracePeriodSeconds` its own grace period is replaced first. */
export const deleteInstance =
  ({ kube, log }: Pick<ControllerPorts, 'kube' | 'log'>): ControllerActivities['deleteInstance'] =>
  async ({ vm, vmi: ref, gracePeriodSeconds }) => {
    const before = await onConflictAgain(async () => {
      const vmi = await findInstance(kube, ref);
      if (vmi === undefined || gracePeriodSeconds === undefined) return vmi;
      if (vmi.spec.terminationGracePeriodSeconds === gracePeriodSeconds) return vmi;
      const patch = {
        metadata: { uid: ref.uid, resourceVersion: vmi.metadata?.resourceVersion },
        spec: { terminationGracePeriodSeconds: gracePeriodSeconds },
      };
      return ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, patch));
    });
    if (before === undefined) return goneInstance(ref);
    if (before.metadata?.deletionTimestamp !== undefined) return instanceFacts(before);
    const removed = await kube.remove('VirtualMachineInstance', ref, { uid: ref.uid });
    if (removed !== undefined) {
      const message = `Asked VirtualMachineInstance ${ref.name} (${ref.uid}) to shut down`;
      void recordEvent({ kube, log }, { kind: 'VirtualMachine', ref: vm, reason: 'SuccessfulDelete', message });
    }
    const left = await findInstance(kube, ref);
    return left === undefined ? goneInstance(ref) : instanceFacts(left);
  };
