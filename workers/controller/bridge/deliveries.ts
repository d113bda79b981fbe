import { instanceObserved, podObserved, virtualMachineObserved } from '../../../api/contract/entities.ts';
import type { InstanceFacts, VirtualMachineFacts } from '../../../api/contract/facts.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import { instanceId, virtualMachineId } from '../../../api/contract/refs.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../../activities/facts/instance.ts';
import { podFacts } from '../../../activities/facts/pod.ts';
import { refOf, virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import { instanceDigest, ownedInstanceDigest, podDigest, vmDigest } from './relevance.ts';

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
  | { kind: 'plain'; signal: string; argument: unknown }
);

/** An object's own entity is told, and started if need be, from a live read; only the digest comes from the cache. */
export const ofVirtualMachine = (vm: VirtualMachine, isGone: boolean): Delivery[] => {
  const ref = refOf(vm);
  const digest = isGone ? 'gone' : vmDigest(virtualMachineFacts(vm));
  const workflowId = virtualMachineId(ref);
  return [{ key: workflowId, workflowId, digest, kind: 'ownVirtualMachine', ref }];
};

/** To the VMI's own entity and to the entity of the VM that owns it. */
export const ofInstance = (vmi: VirtualMachineInstance, isGone: boolean): Delivery[] => {
  const facts: InstanceFacts = { ...instanceFacts(vmi), ...(isGone ? { gone: true } : {}) };
  const ref = facts.vmi;
  const workflowId = instanceId(ref);
  const own: Delivery = { key: workflowId, workflowId, digest: instanceDigest(facts), kind: 'ownInstance', ref };
  if (facts.owner === undefined) return [own];
  const owner = virtualMachineId({ namespace: ref.namespace, ...facts.owner });
  const digest = ownedInstanceDigest(facts, vmi);
  return [own, { ...plain(owner, instanceObserved.name, facts, ref.uid), digest }];
};

/** The VMI that a launcher Pod belongs to; undefined for any other Pod. */
export const instanceOf = (pod: Pod): { name: string; uid: string } | undefined =>
  pod.metadata?.ownerReferences?.find(({ kind }) => kind === 'VirtualMachineInstance');

/** To the entity of the VMI that created the Pod. */
export const ofPod = (pod: Pod, isGone: boolean): Delivery[] => {
  const facts = { ...podFacts(pod), ...(isGone ? { gone: true } : {}) };
  const owner = instanceOf(pod);
  if (owner === undefined) return [];
  const workflowId = instanceId({ namespace: pod.metadata?.namespace ?? '', name: owner.name, uid: owner.uid });
  return [{ ...plain(workflowId, podObserved.name, facts, facts.uid), digest: podDigest(facts) }];
};

const plain = (workflowId: string, signal: string, argument: unknown, subject: string) =>
  ({ key: `${workflowId} ${signal} ${subject}`, workflowId, kind: 'plain', signal, argument }) as const;

/** A plain signal to one entity about something it may wait for; sent each time. */
export const ofDependency = (vmi: ObjectRef, signal: string, dependency: { kind: string; name: string }): Delivery => {
  const subject = `${dependency.kind}/${dependency.name}`;
  return { ...plain(instanceId(vmi), signal, dependency, subject), digest: '' };
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

/** The object behind an entity's workflow id; undefined for any other workflow. */
export const refOfWorkflow = (
  workflowId: string,
): { kind: 'VirtualMachine' | 'VirtualMachineInstance'; ref: ObjectRef } | undefined => {
  const [prefix, namespace, name, uid, ...more] = workflowId.split('/');
  if (namespace === undefined || name === undefined || uid === undefined || more.length > 0) return undefined;
  if (prefix === 'vm') return { kind: 'VirtualMachine', ref: { namespace, name, uid } };
  if (prefix === 'vmi') return { kind: 'VirtualMachineInstance', ref: { namespace, name, uid } };
  return undefined;
};

export const OWN = {
  ownVirtualMachine: { workflow: WORKFLOWS.virtualMachine, signal: virtualMachineObserved.name },
  ownInstance: { workflow: WORKFLOWS.virtualMachineInstance, signal: instanceObserved.name },
} as const;
