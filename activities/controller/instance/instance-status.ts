import type { ConditionReport, InstanceReport } from '../../../api/contract/activities.ts';
import { NODE_UNRESPONSIVE } from '../../../api/contract/nodes.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { NODE_NAME_LABEL, OUTDATED_LABEL } from '../../facts/labels.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf, replacing } from '../merge-patch.ts';
import { beginningFields, guestFields } from './guest-status.ts';
import { interfaceStatuses } from './interfaces.ts';
import { migrationFields, migrationLabels } from './migration-status.ts';
import type { Surroundings } from './surroundings.ts';
import { volumeStatuses } from './volume-status.ts';

/** Condition types of a VMI that its entity writes; all others on the object belong to somebody else and stay. */
const OWNED = new Set([
  'Ready',
  'Synchronized',
  'Provisioning',
  'Paused',
  'AgentConnected',
  'AgentVersionNotSupported',
  'PodScheduled',
  'MigrationOutcomeUnknown',
  'EvictionRequested',
  NODE_UNRESPONSIVE,
]);

/** What is read besides the VMI, live. */
export interface StatusFacts extends Surroundings {
  /** The Pod that runs the domain; absent while there is none. */
  pod?: Pod | undefined;
  /** Image of new launcher Pods; absent: nobody compares. */
  launcherImage?: string;
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
  facts: StatusFacts,
): Record<string, unknown> | undefined => {
  const { status } = vmi;
  const { pod, migratability, dataVolumes, now } = facts;
  const { node, launcherImage } = report;
  const phase = phaseOf(vmi, report);
  if (isAsCreated(vmi, report)) return undefined;
  const migration = migrationFields(vmi, report);
  // Taken back with the request.
  const told = report.conditions.filter(
    ({ type }) => type !== 'EvictionRequested' || !('evacuationNodeName' in migration),
  );
  const labels = {
    ...(node === undefined ? {} : { [NODE_NAME_LABEL]: node }),
    ...outdatedLabel(vmi, report, facts.launcherImage),
    ...migrationLabels(vmi, report),
  };
  return mergePatchOf(vmi, {
    ...(Object.keys(labels).length === 0 ? {} : { metadata: { labels } }),
    status: {
      phase,
      phaseTransitionTimestamps: phaseTimes(vmi, report),
      activePods: replacing(status?.activePods, report.activePods),
      conditions: mergeConditions(
        status?.conditions ?? [],
        [...told, ...(dataVolumes === undefined ? [] : [dataVolumes]), ...movable(migratability)],
        (type) => OWNED.has(type),
        timestamp(now),
      ),
      reason: report.reason ?? null,
      ...(node === undefined ? {} : { nodeName: node, migrationTransport: 'Unix' }),
      ...(migratability === undefined ? {} : { migrationMethod: migratability.method }),
      ...migration,
      ...(launcherImage === undefined ? {} : { launcherContainerImageVersion: launcherImage }),
      ...deviceFields(vmi, report, facts),
      ...(pod?.status?.qosClass === undefined ? {} : { qosClass: pod.status.qosClass }),
    },
  });
};

/** Whether the guest runs in another launcher than Pods get now. */
const outdatedLabel = (
  { metadata }: VirtualMachineInstance,
  { phase, launcherImage }: InstanceReport,
  newest: string | undefined,
): Record<string, string | null> => {
  if (launcherImage === undefined || newest === undefined) return {};
  if (phase === 'Running' && launcherImage !== newest) return { [OUTDATED_LABEL]: '' };
  return OUTDATED_LABEL in (metadata?.labels ?? {}) ? { [OUTDATED_LABEL]: null } : {};
};

const movable = (assessed: Surroundings['migratability']): ConditionReport[] =>
  assessed === undefined ? [] : [assessed.live, assessed.storage];

/** What is known of volumes, interfaces and guest: as configured once there is a Pod, as it is while the guest runs, and as it was afterwards. */
const deviceFields = (
  vmi: VirtualMachineInstance,
  report: InstanceReport,
  { pod, claims, beginnings }: StatusFacts,
): Record<string, unknown> => {
  const { domain, phase, activePods } = report;
  if (phase === 'Running') {
    const guest = domain === undefined ? {} : guestFields(vmi, domain, pod);
    const volumeStatus = volumeStatuses(vmi, { claims, hardware: domain?.hardware });
    return merged(beginningFields(vmi, beginnings), { ...guest, volumeStatus });
  }
  const isStarting = phase !== 'Succeeded' && phase !== 'Failed' && Object.keys(activePods).length > 0;
  if (!isStarting || vmi.status?.volumeStatus !== undefined) return {};
  return { interfaces: interfaceStatuses(vmi, undefined, undefined), volumeStatus: volumeStatuses(vmi, { claims }) };
};

/** Memory is said by both: what the guest started with, and what it has. */
const merged = (beginnings: Record<string, unknown>, guest: Record<string, unknown>): Record<string, unknown> => ({
  ...{ ...beginnings, ...guest },
  ...(beginnings['memory'] === undefined
    ? {}
    : { memory: { ...beginnings['memory'], ...(guest['memory'] as object) } }),
});

const ORDER = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running'];

const rank = (phase: string): number => (isFinal(phase) ? ORDER.length : ORDER.indexOf(phase));

/** The object is in a later phase: phases only go forward, so that this report is older than what is written. */
export const isPast = ({ status }: VirtualMachineInstance, { phase }: InstanceReport): boolean =>
  rank(status?.phase ?? '') > rank(phase);

/** Scheduling means that there is a launcher Pod to be scheduled (KubeVirt's meaning): before, the instance is pending. */
const phaseOf = ({ status }: VirtualMachineInstance, { phase, activePods }: InstanceReport): string =>
  phase === 'Scheduling' && Object.keys(activePods).length === 0 && status?.phase !== 'Scheduling' ? 'Pending' : phase;

/** A start that has just begun has nothing to tell that an object made as Pending does not say: one write less per start. */
const isAsCreated = (vmi: VirtualMachineInstance, report: InstanceReport): boolean =>
  vmi.status?.phase === 'Pending' &&
  vmi.status.conditions === undefined &&
  phaseOf(vmi, report) === 'Pending' &&
  Object.keys(report.activePods).length === 0 &&
  report.conditions.every(({ type }) => type === 'Ready');

/** Times on the object stay (they may be older than this entity's memory); phases that are not there yet are added. */
const phaseTimes = (vmi: VirtualMachineInstance, report: InstanceReport): object[] => {
  const known = vmi.status?.phaseTransitionTimestamps ?? [];
  const added = report.phaseTimes.filter(
    ({ phase }) =>
      !known.some((entry) => entry.phase === phase) && !(phase === 'Scheduling' && phaseOf(vmi, report) === 'Pending'),
  );
  return [...known, ...added.map(({ phase, at }) => ({ phase, phaseTransitionTimestamp: timestamp(at) }))];
};
