import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { MigrationPolicy } from '../../../api/migration-policy/index.ts';
import { withPolicy } from '../../../api/migration-policy/index.ts';
import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { MigrationOptions } from '../../../api/launcher/migration.ts';

/**
 * How a VMI is migrated: the cluster's configuration, overlaid by the policy for it, worked out. Memory goes through one connection: QEMU 7.2 loses
 * migrations over several (KubeVirt opens 8).
 */
export const migrationOptions = (
  config: Pick<ClusterConfig, 'migrations'>,
  policy?: MigrationPolicy,
): MigrationOptions => {
  const migrations = withPolicy(config.migrations, policy);
  const bandwidth = quantityValue(String(migrations.bandwidthPerMigration));
  return {
    ...(policy?.metadata?.name === undefined ? {} : { policy: policy.metadata.name }),
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
