import type { Client } from '@temporalio/client';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../../activities/facts/instance.ts';
import type { Delivery } from './deliveries.ts';
import { ofInstance, ofVirtualMachine, refOfWorkflow } from './deliveries.ts';

/** Younger objects may have a workflow that visibility does not show yet, in ms. */
const SETTLED_MS = 20_000;

export interface SweepInput {
  virtualMachines: VirtualMachine[];
  instances: VirtualMachineInstance[];
  /** Workflow ids of all entities that run. */
  running: ReadonlySet<string>;
  now: number;
}

export interface SweepPlan {
  /** To be told again, and started if need be. */
  deliveries: Delivery[];
  withoutWorkflow: number;
  withoutObject: number;
}

const entityIdOf = (delivery: Delivery): string => delivery.workflowId;

/** Whether something goes on, so that its entity may be waiting for an operation that was taken away. */
const isInTransition = (vmi: VirtualMachineInstance): boolean => {
  const { phase, deleting } = instanceFacts(vmi);
  return deleting || (phase !== 'Running' && phase !== 'Succeeded' && phase !== 'Failed');
};

/**
 * Who has to be told: objects whose entity does not run (it was terminated, or Temporal lost it), entities whose object is not in the cache (a live
 * read then says whether it is gone), and instances in transition (their entity looks whether its operation still runs).
 */
export const planSweep = ({ virtualMachines, instances, running, now }: SweepInput): SweepPlan => {
  const settled = ({ metadata }: VirtualMachine | VirtualMachineInstance): boolean =>
    now - Date.parse(metadata?.creationTimestamp ?? '') > SETTLED_MS;
  const own = [
    ...virtualMachines.map((vm) => ({ object: vm, delivery: ofVirtualMachine(vm, false)[0], again: false })),
    ...instances.map((vmi) => ({ object: vmi, delivery: ofInstance(vmi, false)[0], again: isInTransition(vmi) })),
  ].flatMap(({ delivery, ...rest }) => (delivery === undefined ? [] : [{ ...rest, delivery }]));
  const known = new Set(own.map(({ delivery }) => entityIdOf(delivery)));
  const lost = own.filter(({ object, delivery }) => settled(object) && !running.has(entityIdOf(delivery)));
  const again = own.filter(({ object, again }) => again && settled(object));
  const orphans = [...running].filter((id) => !known.has(id)).flatMap(orphanDelivery);
  return {
    deliveries: [...new Set([...lost, ...again].map(({ delivery }) => delivery)), ...orphans],
    withoutWorkflow: lost.length,
    withoutObject: orphans.length,
  };
};

const orphanDelivery = (workflowId: string): Delivery[] => {
  const found = refOfWorkflow(workflowId);
  if (found === undefined) return [];
  const kind = found.kind === 'VirtualMachine' ? 'ownVirtualMachine' : 'ownInstance';
  return [{ kind, key: workflowId, workflowId, digest: 'gone', ref: found.ref }];
};

/** Workflow ids of all entities that run, from visibility. */
export const runningEntities = async (client: Client): Promise<Set<string>> => {
  const types = [WORKFLOWS.virtualMachine, WORKFLOWS.virtualMachineInstance].map((type) => `"${type}"`).join(', ');
  const ids = new Set<string>();
  const query = `ExecutionStatus = "Running" AND WorkflowType IN (${types})`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1000 })) ids.add(workflowId);
  return ids;
};
