import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { InstanceFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { newInstance } from '../../../api/defaults/index.ts';
import { VM_FINALIZER } from '../../../api/kubevirt/finalizers.ts';
import type { InstanceTypes } from '../../../api/instancetypes/index.ts';
import { hasReferences, instanceWithTypes } from '../../../api/instancetypes/index.ts';
import { causesText } from '../../../api/validation/index.ts';
import { toInstance } from '../../../api/virtual-machine/index.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { readableVirtualMachine } from '../../facts/readable.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { timestamp } from '../conditions.ts';
import type { ControllerPorts } from '../ports.ts';
import { onConflictAgain } from '../races.ts';
import type { ObjectEvent } from '../record-event.ts';
import { recordEvent } from '../record-event.ts';
import { claimed, withFinalizer } from './adopt.ts';
import { pinForStart } from './instance-types.ts';
import { readVirtualMachine } from './read.ts';
import { GENERATION_ANNOTATION, storeRevision } from './revisions.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'clock' | 'log' | 'cached'>;

export interface Created {
  facts: InstanceFacts;
  /** Both as the API server has answered them, if the VMI was created just now. */
  made?: { vm: VirtualMachine; vmi: VirtualMachineInstance };
}

/**
 * Creates the VM's VMI, or returns the one that exists: with the VM's finalizer and its revision before it, in as few round trips as that takes.
 * @throws InvalidSpec, InstancetypeNotFound, PreferenceNotFound, Forbidden, ObjectGone, TokenHeld (a foreign VMI has the name)
 */
export const newInstanceOf =
  (ports: Ports) =>
  ({ vm: ref, paused = false }: { vm: ObjectRef; paused?: boolean }): Promise<Created> => {
    const { kube, config, clock, log } = ports;
    let first = neverStarted(ports, ref);
    return onConflictAgain(async () => {
      const [vm, existing] =
        first === undefined
          ? await Promise.all([readVirtualMachine(kube, ref), kube.get('VirtualMachineInstance', ref)])
          : [first, undefined];
      first = undefined;
      if (vm.metadata?.deletionTimestamp !== undefined) {
        throw failure('ObjectGone', `VirtualMachine ${ref.namespace}/${ref.name} is being deleted.`);
      }
      if (existing !== undefined) return { facts: owned(await claimed(kube, vm, existing), ref) };
      // As admission completes what users create: the API server does not ask it about ours.
      const fresh = { uuid: () => crypto.randomUUID(), now: timestamp(clock()) };
      const readable = readableVirtualMachine(vm);
      const { vm: known, types } = await pinForStart(kube, vm);
      const vmi = newInstance(instanceOf(readable, types, paused, config()), config(), fresh);
      const [revision, finalized] = await Promise.all([storeRevision(kube, known), withFinalizer(kube, known)]);
      vmi.status = { ...vmi.status, virtualMachineRevisionName: revision };
      // Told beside: nobody waits for it.
      const tell = (event: Pick<ObjectEvent, 'reason' | 'message' | 'isWarning'>): void =>
        void recordEvent({ kube, log }, { kind: 'VirtualMachine', ref, ...event });
      try {
        const created = await createOrRead(kube, vmi, finalized);
        const message = `Created VirtualMachineInstance ${ref.name} (${created.facts.vmi.uid})`;
        tell({ reason: 'SuccessfulCreate', message });
        return created;
      } catch (error) {
        tell({
          reason: 'FailedCreate',
          message: error instanceof Error ? error.message : String(error),
          isWarning: true,
        });
        throw error;
      }
    });
  };

/** The same, for who asks for nothing more. @throws as newInstanceOf does */
export const createInstance = (ports: Ports): ControllerActivities['createInstance'] => {
  const create = newInstanceOf(ports);
  return async (request) => (await create(request)).facts;
};

/**
 * The VM as a watch has shown it, if it has never been started: the finalizer that it still needs is written over that very version, before anything is
 * made of it. Whether there is an instance of its name shows when its own is created.
 */
const neverStarted = ({ cached }: Pick<ControllerPorts, 'cached'>, { uid }: ObjectRef): VirtualMachine | undefined => {
  const vm = cached?.('VirtualMachine', uid);
  const { finalizers = [], deletionTimestamp } = vm?.metadata ?? {};
  const isNew = !finalizers.includes(VM_FINALIZER) && deletionTimestamp === undefined;
  return vm !== undefined && isNew && !hasReferences(vm) ? vm : undefined;
};

/** The VMI that a start of this VM creates now. Whether it starts paused is the caller's to say: the request may be off the list, or still be on it. */
const instanceFrom = (vm: VirtualMachine, paused: boolean): VirtualMachineInstance => {
  const { stateChangeRequests: _, ...status } = vm.status ?? {};
  const vmi = toInstance({ ...vm, status });
  if (paused) vmi.spec.startStrategy = 'Paused';
  const annotations = { ...vmi.metadata?.annotations, [GENERATION_ANNOTATION]: String(vm.metadata?.generation ?? 0) };
  return { ...vmi, metadata: { ...vmi.metadata, annotations } };
};

/** The same with what the VM's instance type and preference stand for. @throws InvalidSpec (they contradict the VM) */
const instanceOf = (
  vm: VirtualMachine,
  types: InstanceTypes,
  paused: boolean,
  config: ClusterConfig,
): VirtualMachineInstance => {
  const plain = instanceFrom(vm, paused);
  if (!hasReferences(vm)) return plain;
  const { applied, causes } = instanceWithTypes(plain, vm, types, config);
  if (applied === undefined) throw failure('InvalidSpec', `${causesText(causes)}.`);
  return applied;
};

const createOrRead = async (kube: KubePort, vmi: VirtualMachineInstance, vm: VirtualMachine): Promise<Created> => {
  const ref = refOf(vm);
  try {
    const created = await kube.create('VirtualMachineInstance', vmi);
    return { facts: instanceFacts(created), made: { vm, vmi: created } };
  } catch (error) {
    const raced = isAlreadyExists(error) ? await kube.get('VirtualMachineInstance', ref) : undefined;
    if (raced === undefined) throw error;
    return { facts: owned(await claimed(kube, vm, raced), ref) };
  }
};

const owned = (vmi: VirtualMachineInstance | undefined, vm: ObjectRef): InstanceFacts => {
  const name = `VirtualMachineInstance ${vm.namespace}/${vm.name}`;
  if (vmi === undefined) throw failure('TokenHeld', `${name} went at this moment; the start is tried again.`);
  const facts = instanceFacts(vmi);
  if (facts.owner?.uid === vm.uid) return facts;
  const owner = facts.owner === undefined ? 'belongs to no VM' : `belongs to another VM (${facts.owner.uid})`;
  throw failure(
    'TokenHeld',
    `${name} (${facts.vmi.uid}) ${owner} and has this VM's name. Delete it, or wait until it is gone.`,
  );
};
