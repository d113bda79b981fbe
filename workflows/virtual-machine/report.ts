import type { ConditionReport, VirtualMachineReport } from '../../api/contract/activities.ts';
import { FAILURE_REASONS } from '../../api/contract/failures.ts';
import type { InstanceFacts } from '../../api/contract/facts.ts';
import type { Refusal, VirtualMachineState } from './state.ts';
import { isLive, pendingStart } from './state.ts';
import { obstacleOf, startsNext, withStrategyInForce } from './strategies.ts';

/** What the VM's status shows of the entity's state. */
export const reportOf = (state: VirtualMachineState): VirtualMachineReport => {
  const { object, instance, settled, startFailures, ranUnder, dataVolumes } = state;
  return {
    ...(instance === undefined ? {} : { instance: instance.vmi.uid }),
    ends: isEnding(state),
    then: thenOf(state),
    generation: object?.generation ?? 0,
    ...(ranUnder === undefined ? {} : { runStrategy: ranUnder }),
    conditions: conditionsOf(state),
    settledRequests: settled,
    ...(dataVolumes === undefined ? {} : { dataVolumes: dataVolumes.state }),
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

/** What it will show as soon as a new instance is there; that one's uid is not known yet. */
export const reportOnceCreated = (state: VirtualMachineState): VirtualMachineReport => {
  const { busy: _, ...free } = state;
  const { namespace, name, uid } = state.ref;
  const instance: InstanceFacts = {
    ...{ vmi: { namespace, name, uid: '' }, owner: { name, uid }, resourceVersion: '', phase: 'Pending' },
    ...{ deleting: false, gracePeriodSeconds: 0, finalizers: [], ready: false, paused: false },
  };
  return reportOf(withStrategyInForce({ ...free, instance }));
};

const isEnding = ({ instance, busy, refused }: VirtualMachineState): boolean =>
  instance !== undefined && (instance.deleting || busy === 'delete' || refused?.command === 'delete');

const thenOf = (state: VirtualMachineState): VirtualMachineReport['then'] => {
  const { object, instance, refused } = state;
  if (object === undefined || object.deleting || object.manualRecovery === true) return 'stop';
  if (obstacleOf(state) !== undefined) return 'stop';
  // Nothing comes before somebody changes the VM.
  if (instance === undefined && refused?.command === 'create' && refused.retryAt === undefined) return 'stop';
  if (pendingStart(state) !== undefined || object.runStrategy === 'Always') return 'run';
  if (object.runStrategy === 'RerunOnFailure' && instance !== undefined) {
    return instance.deleting || !(isLive(instance) || instance.phase === 'Failed') ? 'stop' : 'runIfFailed';
  }
  return instance === undefined && startsNext(state) ? 'run' : 'stop';
};

const conditionsOf = (state: VirtualMachineState): ConditionReport[] => {
  if (state.object?.deleting === true) return [];
  const obstacle = obstacleOf(state) ?? (state.refused === undefined ? undefined : failureOf(state.refused));
  return obstacle === undefined ? [] : [{ type: 'Failure', status: 'True', ...obstacle }];
};

/** Reasons as in KubeVirt. */
const REASONS: Record<Refusal['command'], string> = {
  ...{ adopt: 'FailedUpdateError', create: 'FailedCreate', delete: 'FailedDelete', switchOn: 'FailedUpdateError' },
  ...{ queueStart: 'FailedUpdateError', provision: 'FailedCreate', release: 'FailedUpdateError' },
};

const failureOf = ({ command, failure }: Refusal): { reason: string; message: string } => ({
  reason: FAILURE_REASONS[failure.type] ?? REASONS[command],
  message: failure.message,
});
