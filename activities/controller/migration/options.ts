import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { MigrationOptions } from '../../../api/launcher/migration.ts';

/**
 * How a VMI is migrated: the cluster's configuration, worked out. Memory goes through one connection: QEMU 7.2 loses migrations over several (KubeVirt
 * opens 8).
 */
export const migrationOptions = ({ migrations }: Pick<ClusterConfig, 'migrations'>): MigrationOptions => {
  const bandwidth = quantityValue(String(migrations.bandwidthPerMigration));
  return {
    ...(bandwidth > 0 ? { bandwidth } : {}),
    completionTimeoutPerGiB: migrations.completionTimeoutPerGiB,
    progressTimeout: migrations.progressTimeout,
    ...(migrations.maxDowntimeMs === undefined ? {} : { maxDowntimeMs: migrations.maxDowntimeMs }),
    allowAutoConverge: migrations.allowAutoConverge,
    allowPostCopy: migrations.allowPostCopy,
    allowWorkloadDisruption: migrations.allowWorkloadDisruption ?? migrations.allowPostCopy,
    unsafe: migrations.unsafeMigrationOverride,
  };
};
