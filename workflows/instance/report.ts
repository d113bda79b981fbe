import type { ConditionReport, InstanceReport } from '../../api/contract/activities.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { InstanceState } from './state.ts';
import { isFinal } from './phases.ts';

/** What the VMI's status shows of the entity's state. */
export const reportOf = (state: InstanceState): InstanceReport => {
  const { pod, domain, end, phase, phaseTimes } = state;
  const node = pod?.node;
  return {
    phase: phase === '' ? 'Pending' : phase,
    phaseTimes,
    activePods: pod === undefined ? {} : { [pod.uid]: node ?? '' },
    conditions: conditionsOf(state),
    ...(node === undefined ? {} : { node }),
    ...(domain === undefined ? {} : { domain }),
    ...(end === undefined ? {} : { reason: `guest ended: ${end}` }),
  };
};

/** Whether the object looks like this since its creation, so that a write would be for nothing: without a phase it is as good as Pending. */
export const isAsCreated = ({ object }: InstanceState, report: InstanceReport): boolean =>
  (object?.phase === 'Pending' || object?.phase === '') &&
  report.phase === 'Pending' &&
  Object.keys(report.activePods).length === 0 &&
  report.conditions.every(({ type }) => type === 'Ready');

const STARTING = ['Pending', 'Scheduling', 'Scheduled'];

/**
 * What makes a report worth a write. Until the guest runs: another phase, another Pod, another obstacle; everything else comes with the next phase.
 * From then on everything but the running numbers and times of domain reports.
 */
export const reportKey = ({ domain, ...report }: InstanceReport): string => {
  if (STARTING.includes(report.phase)) {
    const obstacles = report.conditions.filter(
      ({ type, status }) => type !== 'Ready' && status === (type === 'Provisioning' ? 'True' : 'False'),
    );
    return JSON.stringify([report.phase, Object.keys(report.activePods), obstacles]);
  }
  if (domain === undefined) return JSON.stringify(report);
  const { sequence: _sequence, at: _at, ...rest } = domain;
  return JSON.stringify({ ...report, domain: rest });
};

const conditionsOf = (state: InstanceState): ConditionReport[] => {
  const { podFacts, domain, phase } = state;
  const failure = state.operation?.trouble ?? (isFinal(phase) ? undefined : state.failed?.failure);
  return [
    ready(state),
    ...(podFacts === undefined || isFinal(phase) ? [] : podScheduled(podFacts)),
    ...(failure === undefined ? [] : synchronized(state, failure)),
    ...(failure?.type === 'VolumeNotReady' ? [provisioning(failure)] : []),
    ...(domain?.agent.connected === true && phase === 'Running' ? [is('AgentConnected')] : []),
    ...(domain?.state === 'paused' && phase === 'Running' ? [paused(domain.reason)] : []),
  ];
};

const is = (type: string): ConditionReport => ({ type, status: 'True' });

/** Reasons as in KubeVirt. */
const ready = ({ pod, podFacts, phase, domain, operation }: InstanceState): ConditionReport => {
  const not = (reason: string, message: string): ConditionReport => ({
    ...{ type: 'Ready', status: 'False' },
    reason,
    message,
  });
  if (isFinal(phase)) return not('GuestNotRunning', 'the guest has ended');
  if (pod === undefined) return not('PodNotExists', 'there is no launcher Pod');
  if (phase !== 'Running') return not('GuestNotRunning', 'the guest does not run yet');
  if (podFacts?.deleting === true) return not('PodTerminating', `Pod ${pod.name} is terminating`);
  if (operation?.kind === 'shutdown') return not('GuestNotRunning', 'the guest is shut down');
  if (domain?.state === 'paused') return not('GuestNotRunning', 'the guest is paused');
  return is('Ready');
};

const podScheduled = ({ node, unschedulable }: NonNullable<InstanceState['podFacts']>): ConditionReport[] => {
  if (unschedulable !== undefined) return [{ ...{ type: 'PodScheduled', status: 'False' }, ...unschedulable }];
  return node === undefined ? [] : [is('PodScheduled')];
};

/** Reasons that KubeVirt's tools look for; any other failure gives its type. */
const REASONS: Partial<Record<FailureInfo['type'], string>> = {
  VolumeNotFound: 'FailedPvcNotFound',
  QuotaExceeded: 'FailedCreate',
  Forbidden: 'FailedCreate',
};

const synchronized = ({ podFacts }: InstanceState, failure: FailureInfo): ConditionReport[] => {
  // Unschedulable has its own condition, as in KubeVirt.
  if (failure.type === 'PodNotReady' && podFacts?.unschedulable !== undefined) return [];
  const reason =
    failure.type === 'PodNotReady'
      ? (podFacts?.waiting?.reason ?? failure.type)
      : (REASONS[failure.type] ?? failure.type);
  return [{ ...{ type: 'Synchronized', status: 'False' }, reason, message: failure.message }];
};

const provisioning = ({ message }: FailureInfo): ConditionReport => ({
  ...{ type: 'Provisioning', status: 'True', reason: 'VolumeNotReady', message },
});

const paused = (reason: string | undefined): ConditionReport => ({
  ...{ type: 'Paused', status: 'True', reason: 'PausedByUser', message: reason ?? 'VMI was paused' },
});
