import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { compareQuantities, isQuantity, quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { MigrationOptions } from '../../../api/launcher/migration.ts';

/** Connections of the memory channel (KubeVirt's number). */
const PARALLEL_THREADS = 8;

/** How a VMI is migrated: the cluster's configuration, worked out. Without a VMI (it has gone): as any. */
export const migrationOptions = (
  vmi: VirtualMachineInstance | undefined,
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
const hasCpuToSpare = (vmi: VirtualMachineInstance | undefined): boolean => {
  const { resources, cpu } = vmi?.spec.domain ?? {};
  const limit = String(resources?.limits?.['cpu'] ?? '0');
  const isLimited = !isQuantity(limit) || compareQuantities(limit, '0') > 0;
  return !isLimited && cpu?.dedicatedCpuPlacement !== true;
};
