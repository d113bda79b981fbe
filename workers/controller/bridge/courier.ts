import type { Client } from '@temporalio/client';
import { WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { EntityInput } from '../../../api/contract/entities.ts';
import type { InstanceFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../../api/contract/task-queues.ts';
import { goneInstance, instanceFacts, isFinal } from '../../../activities/facts/instance.ts';
import { virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Delivery } from './deliveries.ts';
import { goneVirtualMachine, OWN } from './deliveries.ts';

export interface CourierPorts {
  kube: KubePort;
  client: Client;
}

/**
 * Sends deliveries to entities. An object's own entity is started if it does not run, but only from a live read that says that the object exists and
 * has work left: an event or a cache never starts anything. Everything else is a plain signal, and nobody listening is success.
 * @throws whatever keeps Temporal or the API server from answering: the delivery is tried again
 */
export const newCourier =
  ({ kube, client }: CourierPorts) =>
  async (delivery: Delivery): Promise<void> => {
    if (delivery.kind === 'plain') return signal(client, delivery.workflowId, delivery.signal, delivery.argument);
    const { ref, workflowId } = delivery;
    const own = OWN[delivery.kind];
    const found = delivery.kind === 'ownInstance' ? await liveInstance(kube, ref) : await liveVirtualMachine(kube, ref);
    if (!found.hasWork) return signal(client, workflowId, own.signal, found.facts);
    const input: EntityInput = { ref };
    try {
      await client.workflow.signalWithStart(own.workflow, {
        workflowId,
        taskQueue: CONTROLLER_QUEUE,
        args: [input],
        signal: own.signal,
        signalArgs: [found.facts],
        // One entity per object: one that completed never runs again, one that was terminated or failed does, for the object is there.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        staticSummary: `${delivery.kind === 'ownInstance' ? 'VMI' : 'VM'} ${ref.namespace}/${ref.name}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };

const signal = async (client: Client, workflowId: string, name: string, argument: unknown): Promise<void> => {
  try {
    await client.workflow.getHandle(workflowId).signal(name, argument);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

interface Live {
  facts: unknown;
  /** There is something left to do for an entity. */
  hasWork: boolean;
}

const liveVirtualMachine = async (kube: KubePort, ref: ObjectRef): Promise<Live> => {
  const vm = await kube.get('VirtualMachine', ref);
  if (vm?.metadata?.uid !== ref.uid) return { facts: goneVirtualMachine(ref), hasWork: false };
  return { facts: virtualMachineFacts(vm), hasWork: true };
};

const liveInstance = async (kube: KubePort, ref: ObjectRef): Promise<Live> => {
  const vmi = await kube.get('VirtualMachineInstance', ref);
  if (vmi?.metadata?.uid !== ref.uid) return { facts: goneInstance(ref), hasWork: false };
  const facts: InstanceFacts = instanceFacts(vmi);
  // Final and released: over. Final with finalizers: somebody still has to release it.
  return { facts, hasWork: !isFinal(facts.phase) || facts.finalizers.length > 0 };
};
