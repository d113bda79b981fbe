import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { WORKFLOWS } from '../api/contract/operations.ts';
import { virtualMachineId } from '../api/contract/refs.ts';
import type { TriggerAction, TriggerOptions } from '../api/contract/triggers.ts';
import { TRIGGERS } from '../api/contract/triggers.ts';
import { answering } from './answering.ts';
import { TriggerError } from './errors.ts';
import type { TriggerOperation } from './operation.ts';
import { operationOf } from './operation.ts';

/** A VM by name; with its uid it is this very VM, and not another that was created under its name. */
export interface VirtualMachineName {
  namespace: string;
  name: string;
  uid?: string;
}

/** With a `key` the request is done once for this VM and action, however often it is sent; without one each call is another request. */
export type Asking<A extends TriggerAction> = TriggerOptions<A> & { key?: string };

/**
 * What a VM can be asked for. Each call comes back at once, with the operation that carries it out.
 * @throws TriggerError VirtualMachineNotFound, Refused, NoAnswer
 */
export interface VirtualMachineTriggers {
  /** Runs the VM; `paused`: its CPUs wait. */
  start(asking?: Asking<'start'>): Promise<TriggerOperation>;
  /** Shuts it down; `gracePeriod`: its guest gets so many seconds. */
  stop(asking?: Asking<'stop'>): Promise<TriggerOperation>;
  /** Shuts the instance down that runs now and starts the next; `gracePeriodSeconds: 0` does not wait for the guest. */
  restart(asking?: Asking<'restart'>): Promise<TriggerOperation>;
  /** Moves the guest to another node; `addedNodeSelector`: to one with these labels. */
  migrate(asking?: Asking<'migrate'>): Promise<TriggerOperation>;
  /** Ends the wait of the operation under way, or tries the one that failed last again. */
  retry(asking?: Asking<'retry'>): Promise<TriggerOperation>;
}

export const triggersOf = (client: Client, vm: VirtualMachineName, answerWithinMs: number): VirtualMachineTriggers => {
  const ask = async <A extends TriggerAction>(action: A, asking: Asking<A> | undefined): Promise<TriggerOperation> => {
    const { key = randomUUID(), ...options } = asking ?? {};
    try {
      const { operationId } = await answering(client, answerWithinMs, async () => {
        const entity = client.workflow.getHandle(await workflowIdOf(client, vm));
        // Temporal itself knows a repeated one by this id; the VM's workflow does when it has begun a new run since.
        return entity.executeUpdate(TRIGGERS[action], { updateId: `${action}/${key}`, args: [{ key, options }] });
      });
      return operationOf(client, operationId, answerWithinMs);
    } catch (error) {
      throw explained(error, vm);
    }
  };
  return {
    start: (asking) => ask('start', asking),
    stop: (asking) => ask('stop', asking),
    restart: (asking) => ask('restart', asking),
    migrate: (asking) => ask('migrate', asking),
    retry: (asking) => ask('retry', asking),
  };
};

/** Quotes cannot occur in Kubernetes names; nothing else gets into a query. */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** Id of the VM's workflow: from its uid, or as visibility has it. @throws TriggerError VirtualMachineNotFound */
const workflowIdOf = async (client: Client, vm: VirtualMachineName): Promise<string> => {
  const { namespace, name, uid } = vm;
  if (uid !== undefined) return virtualMachineId({ namespace, name, uid });
  if (!NAME.test(namespace) || !NAME.test(name)) throw notFound(vm);
  const query = `WorkflowType = "${WORKFLOWS.virtualMachine}" AND ExecutionStatus = "Running" AND VmNamespace = "${namespace}" AND VmName = "${name}"`;
  const found = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query })) found.push({ workflowId, startTime });
  // The workflow of a deleted VM may be about to end.
  const [newest] = found.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
  if (newest === undefined) throw notFound(vm);
  return newest.workflowId;
};

const notFound = ({ namespace, name }: VirtualMachineName, cause?: unknown): TriggerError =>
  new TriggerError(
    'VirtualMachineNotFound',
    `no workflow runs for VirtualMachine ${namespace}/${name}: it does not exist, or the controller worker has not seen it yet.`,
    { cause },
  );

const explained = (error: unknown, vm: VirtualMachineName): unknown => {
  if (error instanceof WorkflowNotFoundError) return notFound(vm, error);
  if (!(error instanceof WorkflowUpdateFailedError)) return error;
  const reason = error.cause?.message ?? error.message;
  return new TriggerError('Refused', `${vm.namespace}/${vm.name}: ${reason}`, { cause: error });
};
