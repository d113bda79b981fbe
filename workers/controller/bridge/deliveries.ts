import {
  dependencyChanged,
  instanceObserved,
  podObserved,
  virtualMachineObserved,
} from '../../../api/contract/entities.ts';
import { evacuationObserved } from '../../../api/contract/evacuation.ts';
import type { InstanceFacts, PodFacts, VirtualMachineFacts } from '../../../api/contract/facts.ts';
import { limitsChanged, MIGRATION_SCHEDULER_ID, migrationObserved } from '../../../api/contract/migrations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { NodeFacts } from '../../../api/contract/nodes.ts';
import { nodeObserved } from '../../../api/contract/nodes.ts';
import {
  evacuationId,
  instanceId,
  migrationId,
  nodeLifecycleId,
  replicaSetId,
  virtualMachineId,
} from '../../../api/contract/refs.ts';
import { replicaSetObserved } from '../../../api/contract/replica-sets.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Node, Pod } from '../../../api/kubernetes/types.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../../activities/facts/instance.ts';
import { isReleased, migrationFacts } from '../../../activities/facts/migration.ts';
import { hasNoWorker, nodeFacts, nodeRef } from '../../../activities/facts/node.ts';
import { podFacts } from '../../../activities/facts/pod.ts';
import { refOf, virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import {
  instanceDigest,
  isStartingWell,
  migrationDigest,
  nodeDigest,
  ownedInstanceDigest,
  podDigest,
  vmDigest,
} from './relevance.ts';

/** A signal to an entity. Pure data: what to send is decided here, sending is the courier's. */
export type Delivery = {
  /** Coalesces: a later delivery of the same key replaces an earlier one. */
  key: string;
  workflowId: string;
  /** Same as the last one delivered under this key: nothing to tell. */
  digest: string;
} & (
  | { kind: 'ownVirtualMachine'; ref: ObjectRef }
  | { kind: 'ownInstance'; ref: ObjectRef }
  | { kind: 'ownMigration'; ref: ObjectRef }
  /** `namespace` is empty. */
  | { kind: 'ownNode'; ref: ObjectRef }
  /** Likewise. */
  | { kind: 'ownEvacuation'; ref: ObjectRef }
  | { kind: 'ownReplicaSet'; ref: ObjectRef }
  /** `canWait`: of no use to anybody if the VMI runs soon, or is over soon; `vmi` is its uid. */
  | { kind: 'plain'; signal: string; args: unknown[]; canWait?: { vmi: string; until: 'runs' | 'over' } }
);

/** An object's own entity is told, and started if need be, from a live read; only the digest comes from the cache. */
export const ofVirtualMachine = (vm: VirtualMachine, isGone: boolean): Delivery[] => {
  const ref = refOf(vm);
  const digest = isGone ? 'gone' : vmDigest(virtualMachineFacts(vm));
  const workflowId = virtualMachineId(ref);
  return [{ key: workflowId, workflowId, digest, kind: 'ownVirtualMachine', ref }];
};

/**
 * To the VMI's own entity and to the entity of the VM that owns it. The VM has created it and has said that it starts: of a start that goes well it
 * hears when it is over (docs/adr/0027).
 */
export const ofInstance = (
  vmi: VirtualMachineInstance,
  isGone: boolean,
  before?: VirtualMachineInstance,
): Delivery[] => {
  const facts: InstanceFacts = { ...instanceFacts(vmi), ...(isGone ? { gone: true } : {}) };
  const ref = facts.vmi;
  const workflowId = instanceId(ref);
  const own: Delivery = { key: workflowId, workflowId, digest: instanceDigest(facts), kind: 'ownInstance', ref };
  const wasWell = before === undefined ? facts.untouched === true : isStartingWell(before);
  if (facts.owner === undefined || (wasWell && !isGone && isStartingWell(vmi))) return [own];
  const owner = virtualMachineId({ namespace: ref.namespace, ...facts.owner });
  const digest = ownedInstanceDigest(facts, vmi);
  return [own, { ...plain(owner, instanceObserved.name, [facts], ref.uid), digest }];
};

/** To the workflow of a VMIM. One that is over and released has none, and never will: nobody is told until it is gone. */
export const ofMigration = (vmim: VirtualMachineInstanceMigration, isGone: boolean): Delivery[] => {
  const facts = migrationFacts(vmim);
  if (!isGone && isReleased(facts)) return [];
  const ref = facts.migration;
  const workflowId = migrationId(ref);
  return [{ key: workflowId, workflowId, digest: isGone ? 'gone' : migrationDigest(facts), kind: 'ownMigration', ref }];
};

/** To the workflow of a Node that has, or had, a node worker. */
export const ofNode = (node: Node, isGone: boolean, now: number): Delivery[] => {
  const facts = nodeFacts(node, now);
  if (hasNoWorker(facts)) return [];
  const workflowId = nodeLifecycleId(facts.node);
  const ref: ObjectRef = { namespace: '', ...facts.node };
  return [{ key: workflowId, workflowId, digest: isGone ? 'gone' : nodeDigest(facts), kind: 'ownNode', ref }];
};

/** To the workflow that empties a Node; sent each time, for it looks by itself what there is to do. */
export const ofEvacuation = (node: Node): Delivery => {
  const workflowId = evacuationId(nodeRef(node));
  const ref: ObjectRef = { namespace: '', ...nodeRef(node) };
  return { key: workflowId, workflowId, digest: '', kind: 'ownEvacuation', ref };
};

/** To the workflow of a replica set; sent each time, likewise. */
export const ofReplicaSet = (set: VirtualMachineInstanceReplicaSet): Delivery => {
  const ref = refOf(set);
  const workflowId = replicaSetId(ref);
  return { key: workflowId, workflowId, digest: '', kind: 'ownReplicaSet', ref };
};

/** To the scheduler of migrations, if one runs. */
export const limitsMayHaveChanged = (): Delivery => ({
  ...plain(MIGRATION_SCHEDULER_ID, limitsChanged.name, [], ''),
  digest: '',
});

/** The VMI that a launcher Pod belongs to; undefined for any other Pod. */
export const instanceOf = (pod: Pod): { name: string; uid: string } | undefined =>
  pod.metadata?.ownerReferences?.find(({ kind }) => kind === 'VirtualMachineInstance');

/**
 * To the entity of the VMI that created the Pod, which knows of one that nobody has said anything of yet. That it gets a node is no news while all goes
 * well: whoever made the Pod waits for that (docs/adr/0025). That its containers run is none either if the guest runs soon after.
 */
export const ofPod = (pod: Pod, isGone: boolean, before?: Pod): Delivery[] => {
  const facts: PodFacts = { ...podFacts(pod), ...(isGone ? { gone: true } : {}) };
  const owner = instanceOf(pod);
  const past = before === undefined ? undefined : podFacts(before);
  if (owner === undefined || (isOnItsWay(facts) && (past === undefined || isOnItsWay(past)))) return [];
  const workflowId = instanceId({ namespace: pod.metadata?.namespace ?? '', name: owner.name, uid: owner.uid });
  // What somebody has been told before this process came is not known.
  const canWait =
    past !== undefined && (isOnItsWay(past) || isUp(past)) && isUp(facts)
      ? ({ canWait: { vmi: owner.uid, until: 'runs' } } as const)
      : {};
  return [{ ...plain(workflowId, podObserved.name, [facts], facts.uid), digest: podDigest(facts), ...canWait }];
};

/** Its containers run, nothing else can be said of it, and it is no migration's target. */
const isUp = ({ phase, computeReady, migration, unready, waiting, deleting, gone }: PodFacts): boolean =>
  phase === 'Running' &&
  computeReady &&
  migration === undefined &&
  unready === undefined &&
  waiting === undefined &&
  !deleting &&
  gone !== true;

/** Just created, or given to a node whose kubelet has not said anything of it yet; nobody has deleted it. A migration is told where its target goes. */
const isOnItsWay = ({ node, migration, phase, computeReady, ...facts }: PodFacts): boolean => {
  const { unschedulable, waiting, deleting, gone } = facts;
  const isWell = unschedulable === undefined && waiting === undefined && !deleting && gone !== true;
  return phase === 'Pending' && !computeReady && isWell && (node === undefined || migration === undefined);
};

const plain = (workflowId: string, signal: string, args: unknown[], subject: string) =>
  ({ key: `${workflowId} ${signal} ${subject}`, workflowId, kind: 'plain', signal, args }) as const;

/** A plain signal to one entity about something it may wait for; sent each time. */
export const ofDependency = (vmi: ObjectRef, signal: string, dependency: { kind: string; name: string }): Delivery => {
  const subject = `${dependency.kind}/${dependency.name}`;
  return { ...plain(instanceId(vmi), signal, [dependency], subject), digest: '' };
};

/** The same to the entity of a VM, about what the VM refers to. */
export const ofReference = (vm: ObjectRef, dependency: { kind: string; name: string }): Delivery => {
  const subject = `${dependency.kind}/${dependency.name}`;
  return { ...plain(virtualMachineId(vm), dependencyChanged.name, [dependency], subject), digest: '' };
};

/** What an entity is told whose object is gone. */
export const goneVirtualMachine = (vm: ObjectRef): VirtualMachineFacts => ({
  vm,
  resourceVersion: '',
  generation: 0,
  runStrategy: '',
  deleting: true,
  finalizers: [],
  stateChangeRequests: [],
  gone: true,
});

/** What the workflow of a Node is told that is gone: it knows the rest. */
export const goneNode = ({ name, uid }: ObjectRef): NodeFacts => ({
  node: { name, uid },
  ...{ bootId: '', heartbeat: '', silent: true, schedulable: false, gone: true },
});

/** Whose workflow an object's own is: what a workflow id begins with. */
const OWN_BY_PREFIX = {
  vm: 'ownVirtualMachine',
  vmi: 'ownInstance',
  migration: 'ownMigration',
  vmirs: 'ownReplicaSet',
} as const;

const isPrefix = (word: string | undefined): word is keyof typeof OWN_BY_PREFIX =>
  word !== undefined && word in OWN_BY_PREFIX;

/** What to tell a workflow whose object cannot be found: a live read decides. Undefined for a workflow that is no object's own. */
export const ofOrphan = (workflowId: string): Delivery | undefined => {
  const node = /^(node|evacuate)\/([^/]+)\/([^/]+)$/.exec(workflowId);
  if (node !== null) {
    const [, what, nodeName = '', nodeUid = ''] = node;
    const ref: ObjectRef = { namespace: '', name: nodeName, uid: nodeUid };
    const kind = what === 'node' ? 'ownNode' : 'ownEvacuation';
    return { kind, key: workflowId, workflowId, digest: 'gone', ref };
  }
  const [prefix, namespace, name, uid, ...more] = workflowId.split('/');
  if (!isPrefix(prefix) || namespace === undefined || name === undefined || uid === undefined) return undefined;
  if (more.length > 0) return undefined;
  return { kind: OWN_BY_PREFIX[prefix], key: workflowId, workflowId, digest: 'gone', ref: { namespace, name, uid } };
};

/** Type and signal of the workflow that is an object's own. */
export const OWN = {
  ownVirtualMachine: { workflow: WORKFLOWS.virtualMachine, signal: virtualMachineObserved.name },
  ownInstance: { workflow: WORKFLOWS.virtualMachineInstance, signal: instanceObserved.name },
  ownMigration: { workflow: WORKFLOWS.migrateInstance, signal: migrationObserved.name },
  ownNode: { workflow: WORKFLOWS.nodeLifecycle, signal: nodeObserved.name },
  ownEvacuation: { workflow: WORKFLOWS.evacuateNode, signal: evacuationObserved.name },
  ownReplicaSet: { workflow: WORKFLOWS.replicaSet, signal: replicaSetObserved.name },
} as const;
