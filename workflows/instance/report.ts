import type { ConditionReport, InstanceReport } from '../../api/contract/activities.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import { NODE_UNRESPONSIVE } from '../../api/contract/nodes.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { InstanceState } from './state.ts';
import { troubledHost } from './state.ts';
import { isFinal } from './phases.ts';

/** What the VMI's status shows of the entity's state. */
export const reportOf = (state: InstanceState): InstanceReport => {
  const { pod, domain, end, phase, phaseTimes, migration } = state;
  const node = pod?.node;
  return {
    phase: phase === '' ? 'Pending' : phase,
    phaseTimes,
    activePods: activePods(state),
    conditions: conditionsOf(state),
    ...(node === undefined ? {} : { node }),
    ...(domain === undefined ? {} : { domain }),
    ...(end === undefined ? {} : { reason: end === 'nodeLost' ? NODE_UNRESPONSIVE : `guest ended: ${end}` }),
    ...(migration === undefined ? {} : { migration }),
  };
};

/** A migration's target counts from when a node was chosen for it, the Pod that the guest has left until it is gone. */
const activePods = ({ pod, target, former }: InstanceState): Record<string, string> => {
  const others = [target?.pod.node === undefined ? undefined : target.pod, former];
  return Object.fromEntries([pod, ...others].flatMap((one) => (one === undefined ? [] : [[one.uid, one.node ?? '']])));
};

/** Whether the object looks like this since its creation, so that a write would be for nothing: without a phase it is as good as Pending. */
export const isAsCreated = ({ object }: InstanceState, report: InstanceReport): boolean =>
  (object?.phase === 'Pending' || object?.phase === '') &&
  report.phase === 'Pending' &&
  Object.keys(report.activePods).length === 0 &&
  report.conditions.every(({ type }) => type === 'Ready');

const STARTING = ['Pending', 'Scheduling', 'Scheduled'];
/** Conditions that are bad when they are true. */
const OBSTACLES = ['Provisioning', NODE_UNRESPONSIVE];

/**
 * What makes a report worth a write. Until the guest runs: another phase, another Pod, another obstacle; everything else comes with the next phase.
 * From then on everything but the running numbers and times of domain reports.
 */
export const reportKey = ({ domain, ...report }: InstanceReport): string => {
  if (STARTING.includes(report.phase)) {
    const obstacles = report.conditions.filter(
      ({ type, status }) => type !== 'Ready' && status === (OBSTACLES.includes(type) ? 'True' : 'False'),
    );
    return JSON.stringify([report.phase, Object.keys(report.activePods), obstacles]);
  }
  if (domain === undefined) return JSON.stringify(report);
  const { sequence: _sequence, at: _at, migrationUid: _uid, ...rest } = domain;
  return JSON.stringify({ ...report, domain: rest });
};

const conditionsOf = (state: InstanceState): ConditionReport[] => {
  const { podFacts, domain, phase } = state;
  const { operation } = state;
  // What a migration struggles with is told with the migration: the VMI itself is as it should be.
  const trouble = operation?.kind === 'migrate' ? undefined : operation?.trouble;
  const failure = trouble ?? (isFinal(phase) ? undefined : state.failed?.failure);
  return [
    ready(state),
    ...(podFacts === undefined || isFinal(phase) ? [] : podScheduled(podFacts)),
    ...(failure === undefined ? [] : synchronized(state, failure)),
    ...(failure?.type === 'VolumeNotReady' ? [provisioning(failure)] : []),
    ...(domain?.agent.connected === true && phase === 'Running' ? [is('AgentConnected')] : []),
    ...(domain !== undefined && isPaused(state) && phase === 'Running' ? [paused(domain)] : []),
    ...outcomeUnknown(state),
    ...(isFinal(phase) ? [] : nodeUnresponsive(state)),
  ];
};

const is = (type: string): ConditionReport => ({ type, status: 'True' });

/** Reasons as in KubeVirt. */
const ready = (state: InstanceState): ConditionReport => {
  const { pod, podFacts, phase, operation } = state;
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
  if (isPaused(state)) return not('GuestNotRunning', 'the guest is paused');
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

/** The moment in which a migration stops the guest to switch it over is not worth a word. */
const isPaused = ({ domain, operation }: InstanceState): boolean =>
  domain?.state === 'paused' && !(domain.pausedBy === 'migration' && operation?.kind === 'migrate');

const PAUSED_BY = { user: 'PausedByUser', ioError: 'PausedIOError', migration: 'PausedByMigrationMonitor' };

const paused = ({ pausedBy = 'user', reason }: DomainReport): ConditionReport => ({
  ...{ type: 'Paused', status: 'True', reason: PAUSED_BY[pausedBy], message: reason ?? 'VMI was paused' },
});

const nodeUnresponsive = (state: InstanceState): ConditionReport[] => {
  const host = troubledHost(state);
  if (host === undefined) return [];
  return [{ ...{ type: NODE_UNRESPONSIVE, status: 'True', reason: NODE_UNRESPONSIVE }, message: host.message }];
};

const outcomeUnknown = ({ operation, migration }: InstanceState): ConditionReport[] =>
  operation?.kind !== 'migrate' || migration?.outcomeUnknown === undefined
    ? []
    : [
        {
          ...{ type: 'MigrationOutcomeUnknown', status: 'True', reason: 'MigrationOutcomeUnknown' },
          message: migration.outcomeUnknown,
        },
      ];
