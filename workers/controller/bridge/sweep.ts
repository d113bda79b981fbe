import type { Client } from '@temporalio/client';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../../../api/kubevirt/types.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import {
  evacuationId,
  instanceId,
  migrationId,
  nodeLifecycleId,
  replicaSetId,
  virtualMachineId,
} from '../../../api/contract/refs.ts';
import type { EvictionRules } from '../../../activities/facts/evacuation.ts';
import { instanceFacts, isFinal } from '../../../activities/facts/instance.ts';
import { hasNoWorker, nodeFacts, nodeRef } from '../../../activities/facts/node.ts';
import { isUntold } from '../../../activities/facts/node-told.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import type { Delivery } from './deliveries.ts';
import {
  ofEvacuation,
  ofInstance,
  ofMigration,
  ofNode,
  ofOrphan,
  ofReplicaSet,
  ofVirtualMachine,
  OWN,
} from './deliveries.ts';
import { evacuationsInCache } from './evacuation.ts';

/** Younger objects may have a workflow that visibility does not show yet, in ms. */
const SETTLED_MS = 20_000;

export interface SweepInput {
  virtualMachines: VirtualMachine[];
  instances: VirtualMachineInstance[];
  migrations: VirtualMachineInstanceMigration[];
  replicaSets: VirtualMachineInstanceReplicaSet[];
  nodes: Node[];
  rules: EvictionRules;
  /** Workflow ids of all workflows that are an object's own and run. */
  running: ReadonlySet<string>;
  now: number;
}

export interface SweepPlan {
  /** To be told again, and started if need be. */
  deliveries: Delivery[];
  withoutWorkflow: number;
  withoutObject: number;
}

/** Whether something goes on, so that its entity may be waiting for an operation that was taken away. */
const isInTransition = (vmi: VirtualMachineInstance): boolean => {
  const { phase, deleting } = instanceFacts(vmi);
  return deleting || (phase === 'Running' ? isMoving(vmi) : !isFinal(phase));
};

/** A migration has begun and not ended, or has left a Pod behind. */
const isMoving = ({ status }: VirtualMachineInstance): boolean => {
  const { migrationState: move, activePods = {} } = status ?? {};
  const isOver = move === undefined || move.completed === true || move.endTimestamp !== undefined;
  return !isOver || Object.keys(activePods).length > 1;
};

/** An instance of the node does not show how the node stands: it may not have heard. */
const hasUntold = (node: Node, instances: VirtualMachineInstance[], now: number): boolean => {
  const facts = nodeFacts(node, now);
  if (hasNoWorker(facts)) return false;
  const { fence, silent } = facts;
  const standing = fence !== undefined ? 'fenced' : silent ? 'silent' : 'responsive';
  const { name } = facts.node;
  return instances.some((vmi) => vmi.status?.nodeName === name && isUntold(vmi, { node: name, standing }));
};

/** It has more or fewer VMIs than it shall have, as far as it says. */
const isIncomplete = ({ spec, status }: VirtualMachineInstanceReplicaSet): boolean =>
  spec.paused !== true && (status?.replicas ?? 0) !== (spec.replicas ?? 1);

/**
 * Who has to be told: objects whose own workflow does not run (it was terminated, or Temporal lost it), workflows whose object is not in the cache (a
 * live read then says whether it is gone), instances in transition (their entity looks whether its operation still runs), and nodes that are emptied.
 */
export const planSweep = (input: SweepInput): SweepPlan => {
  const { virtualMachines, instances, migrations, replicaSets, nodes, rules, running, now } = input;
  const emptied = evacuationsInCache({ nodes: () => nodes, instances: () => instances, rules: () => rules });
  const own = [
    ...virtualMachines.map((vm) => ({ object: vm, told: ofVirtualMachine(vm, false), again: false })),
    ...instances.map((vmi) => ({ object: vmi, told: ofInstance(vmi, false).slice(0, 1), again: isInTransition(vmi) })),
    ...migrations.map((vmim) => ({ object: vmim, told: ofMigration(vmim, false), again: false })),
    ...nodes.map((node) => ({ object: node, told: ofNode(node, false, now), again: hasUntold(node, instances, now) })),
    ...replicaSets.map((set) => ({ object: set, told: [ofReplicaSet(set)], again: isIncomplete(set) })),
    ...emptied.map((node) => ({ object: node, told: [ofEvacuation(node)], again: true })),
  ];
  const settled = own
    .filter(({ object: { metadata } }) => now - Date.parse(metadata?.creationTimestamp ?? '') > SETTLED_MS)
    .flatMap(({ told, again }) =>
      told.map((delivery) => ({ delivery, again, isLost: !running.has(delivery.workflowId) })),
    );
  const known = new Set([
    ...virtualMachines.map((vm) => virtualMachineId(refOf(vm))),
    ...instances.map((vmi) => instanceId(refOf(vmi))),
    ...migrations.map((vmim) => migrationId(refOf(vmim))),
    ...nodes.map((node) => nodeLifecycleId(nodeRef(node))),
    ...replicaSets.map((set) => replicaSetId(refOf(set))),
    ...emptied.map((node) => evacuationId(nodeRef(node))),
  ]);
  const orphans = [...running].filter((id) => !known.has(id)).flatMap((id) => ofOrphan(id) ?? []);
  return {
    deliveries: [...settled.filter(({ again, isLost }) => again || isLost).map(({ delivery }) => delivery), ...orphans],
    withoutWorkflow: settled.filter(({ isLost }) => isLost).length,
    withoutObject: orphans.length,
  };
};

/** Ids of all workflows that are an object's own and run, from visibility. */
export const runningWorkflows = async (client: Client): Promise<Set<string>> => {
  const types = Object.values(OWN)
    .map(({ workflow }) => `"${workflow}"`)
    .join(', ');
  const ids = new Set<string>();
  const query = `ExecutionStatus = "Running" AND WorkflowType IN (${types})`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1000 })) ids.add(workflowId);
  return ids;
};
