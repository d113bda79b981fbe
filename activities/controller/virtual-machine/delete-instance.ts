import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { InstanceFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { goneInstance, instanceFacts } from '../../facts/instance.ts';
import { findInstance } from '../instance/read.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { recordEvent } from '../record-event.ts';

/** Deletes the VMI by uid and returns what is left of it; with `gracePeriodSeconds` its own grace period is replaced first. */
export const deleteInstance =
  ({ kube, log, cached }: Pick<ControllerPorts, 'kube' | 'log' | 'cached'>): ControllerActivities['deleteInstance'] =>
  async ({ vm, vmi: ref, gracePeriodSeconds }) => {
    const before = await onConflictAgain(async () => {
      const seen = gracePeriodSeconds === undefined ? cached?.('VirtualMachineInstance', ref.uid) : undefined;
      const vmi = seen !== undefined && !isDeleting(seen) ? seen : await findInstance(kube, ref);
      if (vmi === undefined || gracePeriodSeconds === undefined) return vmi;
      if (vmi.spec.terminationGracePeriodSeconds === gracePeriodSeconds) return vmi;
      const patch = {
        metadata: { uid: ref.uid, resourceVersion: vmi.metadata?.resourceVersion },
        spec: { terminationGracePeriodSeconds: gracePeriodSeconds },
      };
      return ifStillThere(kube.mergePatch('VirtualMachineInstance', ref, patch));
    });
    if (before === undefined) return goneInstance(ref);
    if (isDeleting(before)) return instanceFacts(before);
    const left = await kube.remove('VirtualMachineInstance', ref, { uid: ref.uid });
    if (left === undefined) return stillThere(await findInstance(kube, ref), ref);
    const message = `Asked VirtualMachineInstance ${ref.name} (${ref.uid}) to shut down`;
    void recordEvent({ kube, log }, { kind: 'VirtualMachine', ref: vm, reason: 'SuccessfulDelete', message });
    return instanceFacts(left);
  };

const isDeleting = ({ metadata }: VirtualMachineInstance): boolean => metadata?.deletionTimestamp !== undefined;

const stillThere = (vmi: VirtualMachineInstance | undefined, ref: ObjectRef): InstanceFacts =>
  vmi === undefined ? goneInstance(ref) : instanceFacts(vmi);
