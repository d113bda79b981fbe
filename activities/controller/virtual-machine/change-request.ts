import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { virtualMachineFacts } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { onConflictAgain } from '../races.ts';
import { readVirtualMachine } from './read.ts';

/** The two changes of what a user has asked for that KubeVirt's controller makes as well; everything else of that is never written. */

/** A halted VM that is asked to start: its run strategy becomes Always, in the form in which it was written. @throws ObjectGone */
export const switchOn =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['switchOn'] =>
  (ref) =>
    changed(kube, ref, ({ spec }) => {
      if (spec.runStrategy === 'Halted') return { patch: { spec: { runStrategy: 'Always' } } };
      return spec.running === false ? { patch: { spec: { running: true } } } : undefined;
    });

/** Queues a Start request, unless one is queued. @throws ObjectGone */
export const queueStart =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['queueStart'] =>
  (ref) =>
    changed(kube, ref, ({ status }) => {
      const queued = status?.stateChangeRequests ?? [];
      if (queued.some(({ action }) => action === 'Start')) return undefined;
      const patch = { status: { stateChangeRequests: [...queued, { action: 'Start' }] } };
      return { patch, options: { subresource: 'status' } };
    });

interface Change {
  patch: object;
  options?: { subresource: 'status' };
}

/** Makes the change that is left to make, against the VM as it was read. */
const changed = (kube: KubePort, ref: ObjectRef, change: (vm: VirtualMachine) => Change | undefined) =>
  onConflictAgain(async () => {
    const vm = await readVirtualMachine(kube, ref);
    const { patch, options } = change(vm) ?? {};
    if (patch === undefined) return virtualMachineFacts(vm);
    const metadata = { uid: vm.metadata?.uid, resourceVersion: vm.metadata?.resourceVersion };
    return virtualMachineFacts(await kube.mergePatch('VirtualMachine', ref, { ...patch, metadata }, options));
  });
