import type { ConditionReport, InstanceReport } from '../../../api/contract/activities.ts';
import { NODE_UNRESPONSIVE } from '../../../api/contract/nodes.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { GuestOSInfo, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import type { Migratability } from '../../../api/migratability/index.ts';
import { NODE_NAME_LABEL } from '../../facts/labels.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf, replacing } from '../merge-patch.ts';
import { interfaceStatuses } from './interfaces.ts';
import { migrationFields, migrationLabels } from './migration-status.ts';

/** Condition types of a VMI that its entity writes; all others on the object belong to somebody else and stay. */
const OWNED = new Set([
  'Ready',
  'Synchronized',
  'Provisioning',
  'Paused',
  'AgentConnected',
  'PodScheduled',
  'MigrationOutcomeUnknown',
  'EvictionRequested',
  NODE_UNRESPONSIVE,
]);

/** What is read besides the VMI, live. */
export interface StatusFacts {
  /** The Pod that runs the domain; absent while there is none. */
  pod?: Pod | undefined;
  /** Absent: what the object says stays. */
  migratability?: Migratability | undefined;
  /** RFC 3339, for conditions whose status changes. */
  now: string;
}

/**
 * What has to change on a VMI so that it says what its entity knows; undefined when it says so already. Only fields that the entity owns are named:
 * requests of the front door are never touched, but for an evacuation from a node that the guest has left.
 */
export const instancePatch = (
  vmi: VirtualMachineInstance,
  report: InstanceReport,
  { pod, migratability, now }: StatusFacts,
): Record<string, unknown> | undefined => {
  const status = vmi.status;
  const { domain, node } = report;
  const phase = phaseOf(report);
  if (isAsCreated(vmi, report)) return undefined;
  const labels = { ...(node === undefined ? {} : { [NODE_NAME_LABEL]: node }), ...migrationLabels(vmi, report) };
  return mergePatchOf(vmi, {
    ...(Object.keys(labels).length === 0 ? {} : { metadata: { labels } }),
    status: {
      phase,
      phaseTransitionTimestamps: phaseTimes(vmi, report),
      activePods: replacing(status?.activePods, report.activePods),
      conditions: mergeConditions(
        status?.conditions ?? [],
        [...report.conditions, ...migratabilityConditions(migratability)],
        (type) => OWNED.has(type),
        timestamp(now),
      ),
      reason: report.reason ?? null,
      ...(node === undefined ? {} : { nodeName: node, migrationTransport: 'Unix' }),
      ...(migratability === undefined ? {} : { migrationMethod: migratability.method }),
      ...migrationFields(vmi, report),
      ...(domain === undefined || phase !== 'Running' ? {} : guestFields(vmi, domain, pod)),
      ...(pod?.status?.qosClass === undefined ? {} : { qosClass: pod.status.qosClass }),
    },
  });
};

const migratabilityConditions = (assessed: Migratability | undefined): ConditionReport[] =>
  assessed === undefined ? [] : [assessed.live, assessed.storage];

/** Scheduling means that there is a launcher Pod to be scheduled (KubeVirt's meaning): before, the instance is pending. */
const phaseOf = ({ phase, activePods }: InstanceReport): string =>
  phase === 'Scheduling' && Object.keys(activePods).length === 0 ? 'Pending' : phase;

/** A start that has just begun has nothing to tell that an object made as Pending does not say: one write less per start. */
const isAsCreated = (vmi: VirtualMachineInstance, report: InstanceReport): boolean =>
  vmi.status?.phase === 'Pending' &&
  vmi.status.conditions === undefined &&
  phaseOf(report) === 'Pending' &&
  Object.keys(report.activePods).length === 0 &&
  report.conditions.every(({ type }) => type === 'Ready');

/** Times on the object stay (they may be older than this entity's memory); phases that are not there yet are added. */
const phaseTimes = (vmi: VirtualMachineInstance, report: InstanceReport): object[] => {
  const known = vmi.status?.phaseTransitionTimestamps ?? [];
  const added = report.phaseTimes.filter(
    ({ phase }) =>
      !known.some((entry) => entry.phase === phase) && !(phase === 'Scheduling' && phaseOf(report) === 'Pending'),
  );
  return [...known, ...added.map(({ phase, at }) => ({ phase, phaseTransitionTimestamp: timestamp(at) }))];
};

const guestFields = (vmi: VirtualMachineInstance, domain: DomainReport, pod: Pod | undefined): object => ({
  interfaces: interfaceStatuses(vmi, domain.agent, pod),
  ...(domain.agent.os === undefined ? {} : { guestOSInfo: domain.agent.os satisfies GuestOSInfo }),
});
