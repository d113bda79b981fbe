import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { keywords } from '../../api/contract/keywords.ts';
import { WORKFLOWS, ping, wake } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { virtualMachineId } from '../../api/contract/refs.ts';
import type { TriggerInput } from '../../api/contract/triggers.ts';
import { firstAttributes } from '../operation/journal.ts';
import { tell } from '../shared/signals.ts';
import type { AcceptedTrigger, TriggerCommand, VirtualMachineEvent } from './state.ts';

/** Carries out commands about triggers. An operation that is not there any more is over. */
export const newTriggerPerformer = (
  vm: ObjectRef,
): ((command: TriggerCommand) => Promise<VirtualMachineEvent | undefined>) => {
  /** Starts of operations: until they are done there is nobody under their ids. */
  let begun: Promise<unknown> = Promise.resolve();
  return async (command) => {
    if (command.type === 'wakeTrigger') {
      await begun;
      return overUnless(await tell(command.id, wake), command.id);
    }
    const beginning = begin(vm, command.trigger);
    begun = Promise.all([begun, beginning]);
    return beginning;
  };
};

const begin = async (vm: ObjectRef, trigger: AcceptedTrigger): Promise<VirtualMachineEvent | undefined> => {
  const { id, action, key, options, instance } = trigger;
  const { namespace, name, uid } = vm;
  const input: TriggerInput = {
    ...{ entity: virtualMachineId(vm), vmi: { namespace, name, uid: instance }, vm: { name, uid }, attempt: 1 },
    ...{ action, key, options },
  };
  try {
    await startChild(WORKFLOWS.carryOutTrigger, {
      ...{ workflowId: id, args: [input] },
      parentClosePolicy: ParentClosePolicy.ABANDON,
      // The key stands for one request, for as long as Temporal remembers it.
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      typedSearchAttributes: keywords(firstAttributes('trigger', input)),
      staticSummary: `${action} of ${namespace}/${name}, asked for by another service`,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return overUnless(await tell(id, ping), id);
  }
};

const overUnless = (isThere: boolean, id: string): VirtualMachineEvent | undefined =>
  isThere ? undefined : { type: 'triggerOver', id };
