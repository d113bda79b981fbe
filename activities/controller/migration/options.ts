import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { AdmittedMigration } from '../../../api/contract/migrations.ts';
import { compareQuantities, quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { MigrationOptions } from '../../../api/launcher/migration.ts';
import { failure } from '../../failures.ts';

/** Connections of the memory channel (KubeVirt's number). */
const PARALLEL_THREADS = 8;

/** How a VMI is migrated: the cluster's configuration, worked out. */
export const migrationOptions = (
  vmi: VirtualMachineInstance,
  { migrations }: Pick<ClusterConfig, 'migrations'>,
): MigrationOptions => {
  const bandwidth = quantityValue(String(migrations.bandwidthPerMigration));
  return {
    ...(bandwidth > 0 ? { bandwidth } : {}),
    completionTimeoutPerGiB: migrations.completionTimeoutPerGiB,
    progressTimeout: migrations.progressTimeout,
    maxDowntimeMs: migrations.maxDowntimeMs,
    allowAutoConverge: migrations.allowAutoConverge,
    allowPostCopy: migrations.allowPostCopy,
    allowWorkloadDisruption: migrations.allowWorkloadDisruption ?? migrations.allowPostCopy,
    // QEMU has no post-copy over several connections.
    ...(hasCpuToSpare(vmi) && !migrations.allowPostCopy ? { parallelThreads: PARALLEL_THREADS } : {}),
    unsafe: migrations.unsafeMigrationOverride,
  };
};

/** Threads of the migration share the guest's CPUs when those are bounded: then there is one. */
const hasCpuToSpare = ({ spec }: VirtualMachineInstance): boolean => {
  const limit = spec.domain.resources?.limits?.['cpu'];
  const isLimited = limit !== undefined && compareQuantities(String(limit), '0') > 0;
  return !isLimited && spec.domain.cpu?.dedicatedCpuPlacement !== true;
};

/** KubeVirt's words for spec.priority; a migration without one comes last. */
const PRIORITIES = new Map([
  ['system-critical', 100],
  ['user-triggered', 50],
  ['system-maintenance', 20],
]);

/** Place in the queue for a permit: higher goes first. @throws InvalidSpec */
export const priorityOf = (word: string | undefined): number => {
  if (word === undefined || word === '') return 0;
  const priority = PRIORITIES.get(word);
  if (priority !== undefined) return priority;
  throw failure(
    'InvalidSpec',
    `spec.priority "${word}" is unknown: use ${[...PRIORITIES.keys()].join(', ')}, or leave it out.`,
  );
};

/** Annotations of a VMIM by which its user changes how long the target Pod may take. */
const TIMEOUTS = {
  unschedulable: { annotation: 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds', seconds: 300 },
  pending: { annotation: 'kubevirt.io/migrationPendingPodTimeoutSeconds', seconds: 900 },
} as const;

/** How long the target Pod may be unschedulable, and pending for any other reason; seconds. @throws InvalidSpec */
export const timeoutsOf = ({ metadata }: VirtualMachineInstanceMigration): AdmittedMigration['timeouts'] => {
  const read = (timeout: keyof typeof TIMEOUTS): number => {
    const { annotation, seconds } = TIMEOUTS[timeout];
    const given = metadata?.annotations?.[annotation];
    if (given === undefined) return seconds;
    if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
    throw failure(
      'InvalidSpec',
      `metadata.annotations[${annotation}] "${given}" is no number of seconds from 1 to 999999.`,
    );
  };
  return { unschedulable: read('unschedulable'), pending: read('pending') };
};
