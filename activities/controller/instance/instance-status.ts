import type { ConditionReport, InstanceReport } from '../../../api/contract/activities.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { GuestOSInfo, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { isFinal } from '../../facts/instance.ts';
import { COMPUTE, NODE_NAME_LABEL } from '../../facts/labels.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf, replacing } from '../merge-patch.ts';
import { interfaceStatuses } from './interfaces.ts';

/** Condition types of a VMI that its entity writes; all others on the object belong to somebody else and stay. */
const OWNED = new Set(['Ready', 'Synchronized', 'Paused', 'AgentConnected', 'LiveMigratable', 'PodScheduled']);

/**
 * What has to change on a VMI so that it says what its entity knows; undefined when it says so already. Only fields that the entity owns are named:
 * requests of the front door (evacuationNodeName, migrationState, …) are never touched.
 * @param pod the Pod that runs the domain, live; absent while there is none
 * @param now RFC 3339, for conditions whose status changes
 */
export const instancePatch = (
  vmi: VirtualMachineInstance,
  report: InstanceReport,
  pod: Pod | undefined,
  now: string,
): Record<string, unknown> | undefined => {
  const status = vmi.status;
  const { domain, node } = report;
  return mergePatchOf(vmi, {
    ...(node === undefined ? {} : { metadata: { labels: { [NODE_NAME_LABEL]: node } } }),
    status: {
      phase: report.phase,
      phaseTransitionTimestamps: phaseTimes(vmi, report),
      activePods: replacing(status?.activePods, report.activePods),
      conditions: mergeConditions(
        status?.conditions ?? [],
        conditionsOf(vmi, report, pod),
        (type) => OWNED.has(type),
        timestamp(now),
      ),
      reason: report.reason ?? null,
      ...(node === undefined ? {} : { nodeName: node, migrationTransport: 'Unix' }),
      ...(domain === undefined || isFinal(report.phase) ? {} : guestFields(vmi, domain, pod)),
      ...(pod?.status?.qosClass === undefined ? {} : { qosClass: pod.status.qosClass }),
    },
  });
};

/** Times on the object stay (they may be older than this entity's memory); phases that are not there yet are added. */
const phaseTimes = (vmi: VirtualMachineInstance, report: InstanceReport): object[] => {
  const known = vmi.status?.phaseTransitionTimestamps ?? [];
  const added = report.phaseTimes.filter(({ phase }) => !known.some((entry) => entry.phase === phase));
  return [...known, ...added.map(({ phase, at }) => ({ phase, phaseTransitionTimestamp: timestamp(at) }))];
};

const guestFields = (vmi: VirtualMachineInstance, domain: DomainReport, pod: Pod | undefined): object => ({
  interfaces: interfaceStatuses(vmi, domain.agent, pod),
  ...(domain.agent.os === undefined ? {} : { guestOSInfo: domain.agent.os satisfies GuestOSInfo }),
});

/** The entity's conditions, and those that follow from the domain and its Pod where the entity says nothing. */
const conditionsOf = (vmi: VirtualMachineInstance, report: InstanceReport, pod: Pod | undefined): ConditionReport[] => {
  const said = new Set(report.conditions.map(({ type }) => type));
  const derived = [readyCondition(vmi, report, pod), ...pausedCondition(report), ...agentCondition(report)];
  return [...report.conditions, ...derived.filter(({ type }) => !said.has(type))];
};

/** Reasons are KubeVirt's. */
const readyCondition = (vmi: VirtualMachineInstance, report: InstanceReport, pod: Pod | undefined): ConditionReport => {
  const no = (reason: string, message: string): ConditionReport => ({
    type: 'Ready',
    status: 'False',
    reason,
    message,
  });
  if (Object.keys(report.activePods).length === 0) return no('PodNotExists', 'There is no launcher Pod.');
  if (vmi.metadata?.deletionTimestamp !== undefined) return no('PodTerminating', 'The instance is being deleted.');
  if (report.phase !== 'Running') return no('GuestNotRunning', 'The guest does not run.');
  if (report.domain?.state === 'paused') return no('GuestNotRunning', 'The guest is paused.');
  const compute = pod?.status?.containerStatuses?.find(({ name }) => name === COMPUTE);
  if (compute !== undefined && !compute.ready)
    return no('ContainersNotReady', 'The readiness probe does not pass yet.');
  return { type: 'Ready', status: 'True' };
};

const pausedCondition = ({ domain, phase }: InstanceReport): ConditionReport[] => {
  if (phase !== 'Running' || domain?.state !== 'paused') return [];
  const io = domain.reason?.toLowerCase().includes('i/o') ?? false;
  const reason = io ? 'PausedIOError' : 'PausedByUser';
  return [{ type: 'Paused', status: 'True', reason, message: domain.reason ?? 'The guest is paused.' }];
};

const agentCondition = ({ domain, phase }: InstanceReport): ConditionReport[] =>
  phase === 'Running' && domain?.agent.connected === true ? [{ type: 'AgentConnected', status: 'True' }] : [];
