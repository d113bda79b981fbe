import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { operationFinished, operationProgress } from '../../api/contract/operations.ts';
import type { Trigger, TriggerAccepted, TriggerAction } from '../../api/contract/triggers.ts';
import { TRIGGERS, TRIGGER_ACTIONS, triggerId } from '../../api/contract/triggers.ts';
import type { VirtualMachineEvent, VirtualMachineState } from './state.ts';
import { refusalOf } from './triggers.ts';

/** Registers the Updates with which other services ask something of the VM, and takes the word of the operations behind them. */
export const handleTriggers = (state: () => VirtualMachineState, put: (event: VirtualMachineEvent) => void): void => {
  const handle = (action: TriggerAction): void => {
    const accept = ({ key, options = {} }: Trigger): TriggerAccepted => {
      const { ref, instance } = state();
      const id = triggerId(ref, action, key);
      put({ type: 'triggered', trigger: { id, action, key, options, instance: instance?.vmi.uid ?? '' } });
      return { operationId: id };
    };
    const validator = (asked: unknown): void => {
      const why = refusalOf(state(), action, asked);
      if (why !== undefined) throw ApplicationFailure.create({ ...why, nonRetryable: true });
    };
    setHandler(TRIGGERS[action], accept, { validator });
  };
  TRIGGER_ACTIONS.forEach(handle);
  setHandler(operationFinished, ({ operationId: id }) => put({ type: 'triggerOver', id }));
  // Who wants to know how far it is asks the operation.
  setHandler(operationProgress, () => undefined);
};
