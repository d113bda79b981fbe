import type { MigrationReport } from '../../../../../api/contract/migrations.ts';
import type { MigrationOptions } from '../../../../../api/launcher/migration.ts';

export const migration = { namespace: 'n', name: 'm', uid: 'm1' };

/** KubeVirt's defaults. */
export const options: MigrationOptions = {
  completionTimeoutPerGiB: 150,
  progressTimeout: 150,
  maxDowntimeMs: 900,
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  unsafe: false,
};

/** What a migration's workflow reports, from the parts that a test is about. */
export const report = (more: Partial<MigrationReport> = {}): MigrationReport => ({
  migration,
  phase: 'Pending',
  phaseTimes: [],
  ...more,
});
