import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { virtualMachineObserved } from '../../../api/contract/entities.ts';
import type { VirtualMachineFacts } from '../../../api/contract/facts.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { virtualMachineId } from '../../../api/contract/refs.ts';
import { CONTROLLER_QUEUE } from '../../../api/contract/task-queues.ts';
import type { Lab } from './lab.ts';
import type { FakeVm } from './world.ts';
import { factsOf } from './world.ts';

export interface Vm {
  vm: ObjectRef;
  fake: FakeVm;
  /** The bridge tells the entity of the VM, with what changed. */
  tell: (change?: Partial<VirtualMachineFacts>) => Promise<void>;
  entity: WorkflowHandle;
}

/** A VM as the API server has it, and the bridge that tells its entity. */
export const newVm = async (lab: Lab, spec: Partial<VirtualMachineFacts> = {}): Promise<Vm> => {
  const vm: ObjectRef = { namespace: 'default', name: 'vm-a', uid: randomUUID() };
  const { stateChangeRequests = [], ...rest } = spec;
  const fake: FakeVm = {
    ...{ requests: stateChangeRequests, reports: [], words: [], calls: {}, released: false, version: 0 },
    facts: {
      ...{ vm, resourceVersion: '1', generation: 1, runStrategy: 'Always', deleting: false, finalizers: [] },
      ...{ stateChangeRequests: [], ...rest },
    },
  };
  const more = lab.continueAfter === undefined ? {} : { continueAfter: lab.continueAfter };
  lab.world.vms.set(vm.uid, fake);
  const tell = async (change: Partial<VirtualMachineFacts> = {}): Promise<void> => {
    fake.facts = { ...fake.facts, ...change };
    const facts = factsOf(fake);
    await lab.env.client.workflow.signalWithStart(WORKFLOWS.virtualMachine, {
      ...{ workflowId: virtualMachineId(vm), taskQueue: CONTROLLER_QUEUE, args: [{ ref: vm, ...more }] },
      ...{ signal: virtualMachineObserved, signalArgs: [facts] },
    });
  };
  lab.world.tellVm = () => (fake.released ? Promise.resolve() : tell());
  await tell();
  return { vm, fake, tell, entity: lab.env.client.workflow.getHandle(virtualMachineId(vm)) };
};

/** Waits for an instance that runs, another one than `other`. */
export const untilRunning = (lab: Lab, other?: string, timeoutMs = 45_000): Promise<ObjectRef> =>
  lab.until(
    'an instance runs',
    () => {
      const instance = [...lab.world.vmis.values()][0]?.facts;
      return instance?.phase === 'Running' && instance.vmi.uid !== other ? instance.vmi : undefined;
    },
    { timeoutMs },
  );
