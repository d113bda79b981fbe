import type { ConditionReport } from '../../api/contract/activities.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import { NODE_UNRESPONSIVE } from '../../api/contract/nodes.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { isFinal } from './phases.ts';
import type { InstanceState } from './state.ts';
import { troubledHost } from './state.ts';

/** Conditions of the VMI that its entity knows of. */
export const conditionsOf = (state: InstanceState): ConditionReport[] => {
  const { podFacts, domain, phase, operation, object } = state;
  // What a migration struggles with is told with the migration: the VMI itself is as it should be.
  const trouble = operation?.kind === 'migrate' ? undefined : operation?.trouble;
  const failure = trouble ?? (isFinal(phase) ? undefined : state.failed?.failure);
  return [
    ready(state),
    ...(isFinal(phase) ? [] : podScheduled(podFacts, failure)),
    ...(failure === undefined ? [] : synchronized(state, failure)),
    ...(failure?.type === 'VolumeNotReady' ? [provisioning(failure)] : []),
    ...(domain?.agent.connected === true && phase === 'Running' ? agentConditions(domain) : []),
    ...(domain !== undefined && isPaused(state) && phase === 'Running' ? [paused(domain)] : []),
    ...outcomeUnknown(state),
    ...(isFinal(phase) ? [] : nodeUnresponsive(state)),
    ...(isFinal(phase) || object?.evacuationNode === undefined ? [] : [EVICTION_REQUESTED]),
  ];
};

const is = (type: string): ConditionReport => ({ type, status: 'True' });

const agentConditions = ({ agent: { missingCommands } }: DomainReport): ConditionReport[] => [
  is('AgentConnected'),
  ...(missingCommands === undefined
    ? []
    : [
        {
          ...is('AgentVersionNotSupported'),
          // A sentence, since that is what KubeVirt's clients know.
          reason: "This guest agent doesn't support required basic commands",
          message: `it lacks ${missingCommands.join(', ')}`,
        },
      ]),
];

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
  // The user's probe asks the guest: only it can tell.
  if (podFacts?.unready !== undefined) return not(podFacts.unready.reason, podFacts.unready.message);
  return is('Ready');
};

/** Only that it is not: KubeVirt's clients take the condition's presence for an obstacle. A claim that is missing is one, too. */
const podScheduled = (podFacts: InstanceState['podFacts'], failure: FailureInfo | undefined): ConditionReport[] => {
  const missing =
    failure?.type === 'VolumeNotFound' ? { reason: 'Unschedulable', message: failure.message } : undefined;
  const why = podFacts?.unschedulable ?? missing;
  return why === undefined ? [] : [{ ...{ type: 'PodScheduled', status: 'False' }, ...why }];
};

const EVICTION_REQUESTED: ConditionReport = {
  ...{ type: 'EvictionRequested', status: 'True', reason: 'EvictionRequested', message: 'VMI is marked for eviction' },
};

/** Reasons that KubeVirt's tools look for; any other failure gives its type. */
const REASONS: Partial<Record<FailureInfo['type'], string>> = {
  VolumeNotFound: 'FailedPvcNotFound',
  VolumeFailed: 'FailedDataVolumeImport',
  NetworkNotFound: 'FailedCreate',
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

/** KubeVirt's words. */
const PAUSED_BY = {
  user: { reason: 'PausedByUser', message: 'VMI was paused by user' },
  ioError: { reason: 'PausedIOError', message: 'VMI was paused, low-level IO error detected' },
  migration: { reason: 'PausedByMigrationMonitor', message: 'VMI was paused by the migration monitor' },
};

/** Stopped for a reason of its own (it sleeps, a watchdog has fired) it is told in libvirt's words. */
const paused = ({ pausedBy, reason }: DomainReport): ConditionReport => {
  const { user } = PAUSED_BY;
  const why = pausedBy === undefined ? { ...user, message: reason ?? user.message } : PAUSED_BY[pausedBy];
  return { ...{ type: 'Paused', status: 'True' }, ...why };
};

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
