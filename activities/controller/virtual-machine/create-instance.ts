import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { InstanceFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { toInstance } from '../../../api/virtual-machine/index.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { readableVirtualMachine } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { timestamp } from '../conditions.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';
import { readVirtualMachine } from './read.ts';

/** Creates the VM's VMI, or returns the one that exists. @throws InvalidSpec, Forbidden, ObjectGone, TokenHeld (a foreign VMI has the name) */
export const createInstance =
  ({ kube, clock, log }: Pick<ControllerPorts, 'kube' | 'clock' | 'log'>): ControllerActivities['createInstance'] =>
  async ({ vm: ref, paused }) => {
    const vm = await readVirtualMachine(kube, ref);
    if (vm.metadata?.deletionTimestamp !== undefined) {
      throw failure('ObjectGone', `VirtualMachine ${ref.namespace}/${ref.name} is being deleted.`);
    }
    const existing = await kube.get('VirtualMachineInstance', ref);
    if (existing !== undefined) return owned(existing, ref);
    const vmi = toInstance(readableVirtualMachine(vm));
    if (paused === true) vmi.spec.startStrategy = 'Paused';
    const since = { phase: 'Pending', phaseTransitionTimestamp: timestamp(clock()) };
    vmi.status = { ...vmi.status, phase: since.phase, phaseTransitionTimestamps: [since] };
    try {
      const created = instanceFacts(await kube.create('VirtualMachineInstance', vmi));
      const message = `Created VirtualMachineInstance ${ref.name} (${created.vmi.uid})`;
      await recordEvent({ kube, log }, { kind: 'VirtualMachine', ref, reason: 'SuccessfulCreate', message });
      return created;
    } catch (error) {
      const raced = isAlreadyExists(error) ? await kube.get('VirtualMachineInstance', ref) : undefined;
      if (raced === undefined) throw error;
      return owned(raced, ref);
    }
  };

const owned = (vmi: VirtualMachineInstance, vm: ObjectRef): InstanceFacts => {
  const facts = instanceFacts(vmi);
  if (facts.owner?.uid === vm.uid) return facts;
  const name = `VirtualMachineInstance ${vm.namespace}/${vm.name} (${facts.vmi.uid})`;
  const owner = facts.owner === undefined ? 'belongs to no VM' : `belongs to another VM (${facts.owner.uid})`;
  throw failure('TokenHeld', `${name} ${owner} and has this VM's name. Delete it, or wait until it is gone.`);
};
