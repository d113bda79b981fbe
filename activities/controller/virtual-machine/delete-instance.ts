import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { goneInstance, instanceFacts } from '../../facts/instance.ts';
import { findInstance } from '../instance/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { findOwnedInstance } from './read.ts';

/** Deletes the VMI by uid and returns what is left of it; with `gracePeriodSeconds` its own grace period is replaced first. */
export const deleteInstance =
  ({ kube, log }: Pick<ControllerPorts, 'kube' | 'log'>): ControllerActivities['deleteInstance'] =>
  async ({ vm, vmi: ref, gracePeriodSeconds }) => {
    await onConflictAgain(async () => {
      const vmi = await findInstance(kube, ref);
      if (vmi === undefined || gracePeriodSeconds === undefined) return;
      if (vmi.spec.terminationGracePeriodSeconds === gracePeriodSeconds) return;
      const patch = {
        metadata: { uid: ref.uid, resourceVersion: vmi.metadata?.resourceVersion },
        spec: { terminationGracePeriodSeconds: gracePeriodSeconds },
      };
      await ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, patch));
    });
    const removed = await kube.remove('VirtualMachineInstance', ref, { uid: ref.uid });
    if (removed !== undefined) {
      const message = `Asked VirtualMachineInstance ${ref.name} (${ref.uid}) to shut down`;
      await recordEvent({ kube, log }, { kind: 'VirtualMachine', ref: vm, reason: 'SuccessfulDelete', message });
    }
    const left = await findInstance(kube, ref);
    return left === undefined ? goneInstance(ref) : instanceFacts(left);
  };

/** Live read of the VM's VMI by name; undefined when there is none that the VM owns. */
export const observeInstance =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['observeInstance'] =>
  async (vm) => {
    const vmi = await findOwnedInstance(kube, vm);
    return vmi === undefined ? undefined : instanceFacts(vmi);
  };
