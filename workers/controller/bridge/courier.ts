import type { VirtualMachineFacts } from '../../../api/contract/facts.ts';
import type { EntityInput } from '../../../api/contract/entities.ts';
import type { EvacuationInput } from '../../../api/contract/evacuation.ts';
import type { MigrateInput } from '../../../api/contract/migrations.ts';
import { RETRY_OF_ANNOTATION } from '../../../api/contract/migrations.ts';
import type { NodeLifecycleInput } from '../../../api/contract/nodes.ts';
import { NO_INSTANCE } from '../../../api/contract/search-attributes.ts';
import type { ReplicaSetInput } from '../../../api/contract/replica-sets.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { instanceId, migrationId } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { EvictionRules } from '../../../activities/facts/evacuation.ts';
import { askedToLeave } from '../../../activities/facts/evacuation.ts';
import { goneInstance, instanceFacts, isFinal } from '../../../activities/facts/instance.ts';
import { NODE_NAME_LABEL } from '../../../activities/facts/labels.ts';
import { goneMigration, isReleased, migrationFacts } from '../../../activities/facts/migration.ts';
import { nodeFacts } from '../../../activities/facts/node.ts';
import { virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { SignalWithStart, WorkflowPort } from '../../../activities/temporal/port.ts';
import type { Delivery } from './deliveries.ts';
import { goneNode, goneVirtualMachine, OWN } from './deliveries.ts';

export interface CourierPorts {
  kube: KubePort;
  workflows: WorkflowPort;
  rules: () => EvictionRules;
}

/**
 * Sends deliveries to workflows. An object's own is started if it does not run, but only from a live read that says that the object exists and
 * has work left: an event or a cache never starts anything. One that completed never runs again, one that was terminated or failed does, for the
 * object is there. A Node may be emptied any number of times. Everything else is a plain signal, and nobody listening is success.
 * @throws whatever keeps Temporal or the API server from answering: the delivery is tried again
 */
export const newCourier =
  (ports: CourierPorts) =>
  async (delivery: Delivery): Promise<void> => {
    const { workflows } = ports;
    const { workflowId } = delivery;
    if (delivery.kind === 'plain') return workflows.signal(workflowId, delivery.signal, delivery.args);
    const { workflow, signal } = OWN[delivery.kind];
    const { facts, work } = await LIVE[delivery.kind](ports, delivery.ref);
    const signalArgs = facts === undefined ? [] : [facts];
    if (work === undefined) return workflows.signal(workflowId, signal, signalArgs);
    const { input, ...start } = work;
    await workflows.signalWithStart({ workflow, workflowId, args: [input], signal, signalArgs, ...start });
  };

interface Live {
  /** Absent: the signal carries nothing. */
  facts?: unknown;
  /** Something is left to do: what the workflow is started with. */
  work?: {
    input: unknown;
    summary: string;
    againAfterCompletion?: true;
    attributes?: NonNullable<SignalWithStart['attributes']>;
  };
}

const fullName = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;

const attributesOf = ({ namespace, name }: ObjectRef, vmUid: string) => ({
  ...{ VmNamespace: namespace, VmName: name, VmUid: vmUid },
});

const liveVirtualMachine = async ({ kube }: CourierPorts, ref: ObjectRef): Promise<Live> => {
  const vm = await kube.get('VirtualMachine', ref);
  if (vm?.metadata?.uid !== ref.uid) return { facts: goneVirtualMachine(ref) };
  const input: EntityInput = { ref };
  const facts = virtualMachineFacts(vm);
  const attributes = { ...attributesOf(ref, ref.uid), Phase: startsAtOnce(facts) ? 'Pending' : NO_INSTANCE };
  return { facts, work: { input, summary: `VM ${fullName(ref)}`, attributes } };
};

/** Its entity will create an instance first of all, as far as can be seen here: otherwise it corrects itself. */
const startsAtOnce = ({ runStrategy, ranUnder, deleting, dataVolumes, invalid }: VirtualMachineFacts): boolean =>
  ['Always', 'RerunOnFailure', 'Once'].includes(runStrategy) &&
  ranUnder === undefined &&
  !deleting &&
  dataVolumes === undefined &&
  invalid === undefined;

const liveInstance = async ({ kube }: CourierPorts, ref: ObjectRef): Promise<Live> => {
  const vmi = await kube.get('VirtualMachineInstance', ref);
  if (vmi?.metadata?.uid !== ref.uid) return { facts: goneInstance(ref) };
  const facts = instanceFacts(vmi);
  // Final and released: over. Final with finalizers: somebody still has to release it.
  if (isFinal(facts.phase) && facts.finalizers.length === 0) return { facts };
  const input: EntityInput = { ref };
  const attributes = {
    ...{ ...attributesOf(ref, facts.owner?.uid ?? ref.uid), Phase: facts.phase },
    // Its entity begins with that.
    ...(facts.untouched === true ? { Operation: 'start' } : {}),
  };
  return { facts, work: { input, summary: `VMI ${fullName(ref)}`, attributes } };
};

const liveMigration = async ({ kube }: CourierPorts, ref: ObjectRef): Promise<Live> => {
  const vmim = await kube.get('VirtualMachineInstanceMigration', ref);
  if (vmim?.metadata?.uid !== ref.uid) return { facts: goneMigration(ref) };
  const facts = migrationFacts(vmim);
  if (isReleased(facts)) return { facts };
  const { namespace } = ref;
  const { vmiName: name } = facts;
  const found = name === '' ? undefined : await kube.get('VirtualMachineInstance', { namespace, name });
  const vmi = found !== undefined && isMeant(found, vmim) ? instanceFacts(found) : undefined;
  const instance = vmi?.vmi ?? { namespace, name, uid: '' };
  const retryOf = await retried(kube, vmim);
  const input: MigrateInput = {
    ...{ entity: instanceId(instance), vmi: instance, migration: ref, attempt: 1 },
    ...(retryOf === undefined ? {} : { retryOf }),
    ...(vmi?.owner === undefined ? {} : { vm: vmi.owner }),
  };
  return { facts, work: { input, summary: `Migration ${fullName(ref)} of VMI ${name}` } };
};

/** Workflow id of the migration that this one retries, while its object is there. */
const retried = async (kube: KubePort, { metadata }: VirtualMachineInstanceMigration): Promise<string | undefined> => {
  const { namespace = '', annotations } = metadata ?? {};
  const name = annotations?.[RETRY_OF_ANNOTATION];
  const uid = name && (await kube.get('VirtualMachineInstanceMigration', { namespace, name }))?.metadata?.uid;
  return name && uid ? migrationId({ namespace, name, uid }) : undefined;
};

/** A VMI that is younger than the migration came after the one that it names. */
const isMeant = (vmi: VirtualMachineInstance, vmim: VirtualMachineInstanceMigration): boolean =>
  (vmi.metadata?.creationTimestamp ?? '') <= (vmim.metadata?.creationTimestamp ?? '');

const liveNode = async ({ kube }: CourierPorts, ref: ObjectRef): Promise<Live> => {
  const { name, uid } = ref;
  const node = await kube.get('Node', { name });
  if (node?.metadata?.uid !== uid) return { facts: goneNode(ref) };
  const facts = nodeFacts(node, Date.now());
  const input: NodeLifecycleInput = { node: facts.node };
  return { facts, work: { input, summary: `Node ${name}` } };
};

const liveEvacuation = async ({ kube, rules }: CourierPorts, { name, uid }: ObjectRef): Promise<Live> => {
  const node = await kube.get('Node', { name });
  if (node?.metadata?.uid !== uid) return {};
  const vmis = await kube.list('VirtualMachineInstance', { labelSelector: `${NODE_NAME_LABEL}=${name}` });
  if (!vmis.some((vmi) => askedToLeave(vmi, node, rules()) !== undefined)) return {};
  const input: EvacuationInput = { node: { name, uid } };
  return { work: { input, summary: `Evacuation of node ${name}`, againAfterCompletion: true } };
};

const liveReplicaSet = async ({ kube }: CourierPorts, ref: ObjectRef): Promise<Live> => {
  const set = await kube.get('VirtualMachineInstanceReplicaSet', ref);
  if (set?.metadata?.uid !== ref.uid) return {};
  const input: ReplicaSetInput = { set: ref };
  return { work: { input, summary: `Replica set ${fullName(ref)}` } };
};

const LIVE = {
  ownVirtualMachine: liveVirtualMachine,
  ownInstance: liveInstance,
  ownMigration: liveMigration,
  ownNode: liveNode,
  ownEvacuation: liveEvacuation,
  ownReplicaSet: liveReplicaSet,
};
