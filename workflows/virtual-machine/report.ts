import type { ConditionReport, VirtualMachineReport } from '../../api/contract/activities.ts';
import type { VirtualMachineState } from './state.ts';
import { isFinal, isSupported, pendingRequests } from './state.ts';

/** What the VM's status shows of the entity's state. */
export const reportOf = (state: VirtualMachineState): VirtualMachineReport => {
  const { object, settled, startFailures } = state;
  return {
    intent: intentOf(state),
    observedGeneration: object?.generation ?? 0,
    conditions: conditionsOf(state),
    settledRequests: settled.map(({ action, uid }) => ({ action, ...(uid === undefined ? {} : { uid }) })),
    ...(startFailures === undefined
      ? {}
      : {
          startFailure: {
            consecutiveFailCount: startFailures.count,
            lastFailedVMIUID: startFailures.lastUid,
            retryAfterTimestamp: startFailures.retryAt,
          },
        }),
  };
};

/** "stop" only when nothing is to run afterwards, so that a restart never looks stopped. */
const intentOf = (state: VirtualMachineState): VirtualMachineReport['intent'] => {
  const { object, instance } = state;
  if (object?.deleting === true) return 'delete';
  const [head, next] = pendingRequests(state);
  const runsAfterwards = object?.runStrategy === 'Always' || (head?.action === 'Stop' && next?.action === 'Start');
  if (!runsAfterwards) return object?.runStrategy === 'Halted' || head?.action === 'Stop' ? 'stop' : 'run';
  const isEnding = head?.action === 'Stop' || (instance !== undefined && (instance.deleting || isFinal(instance)));
  return isEnding ? 'restart' : 'run';
};

const conditionsOf = ({ object, refused }: VirtualMachineState): ConditionReport[] => {
  if (object?.deleting === true) return [];
  if (object?.invalid !== undefined) return [failure('InvalidSpec', object.invalid)];
  if (object !== undefined && !isSupported(object.runStrategy)) {
    const message = `spec.runStrategy ${object.runStrategy} is not supported yet: set Always or Halted.`;
    return [failure('UnsupportedRunStrategy', message)];
  }
  return refused === undefined
    ? []
    : [failure(refused.command === 'create' ? 'FailedCreate' : 'FailedDelete', refused.failure.message)];
};

const failure = (reason: string, message: string): ConditionReport => ({
  ...{ type: 'Failure', status: 'True', reason, message },
});
