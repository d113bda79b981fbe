import type { MigrationOptions } from '../../../api/launcher/migration.ts';
import type { MigrationReport } from '../../../api/contract/migrations.ts';
import { bytesQuantity } from '../../../api/kubernetes/quantity.ts';
import type { MigrationState } from '../../../api/kubevirt/types.ts';
import { timestamp } from '../conditions.ts';

const ABORT_STATUS = { requested: 'Aborting', succeeded: 'Succeeded', failed: 'Failed' } as const;

/** KubeVirt's migrationState, in the status of VMIM and VMI alike: a pure function of what the migration's workflow knows. */
export const migrationState = (report: MigrationReport): MigrationState => {
  const { migration, phase, source, target, options, failure, abort } = report;
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  return present({
    migrationUid: migration.uid,
    sourceNode: source?.node,
    sourcePod: source?.name,
    targetNode: target?.node,
    targetPod: target?.name,
    targetNodeAddress: report.targetAddress,
    startTimestamp: time(report.startedAt),
    endTimestamp: time(report.endedAt),
    targetNodeDomainReadyTimestamp: time(report.targetRunsSince),
    targetNodeDomainDetected: report.targetRunsSince === undefined ? undefined : true,
    mode: report.mode,
    // KubeVirt's word for "over", whichever way it went.
    completed: isOver ? true : undefined,
    failed: phase === 'Failed' ? true : undefined,
    failureReason: phase === 'Failed' ? failure?.message : undefined,
    abortRequested: abort === undefined ? undefined : true,
    abortStatus: abort === undefined ? undefined : ABORT_STATUS[abort],
    migrationPolicyName: options?.policy,
    migrationConfiguration: options === undefined ? undefined : configurationOf(options),
  });
};

/** The options in force, in the words of the KubeVirt object's configuration. */
const configurationOf = (options: MigrationOptions): NonNullable<MigrationState['migrationConfiguration']> =>
  present({
    allowAutoConverge: options.allowAutoConverge,
    allowPostCopy: options.allowPostCopy,
    allowWorkloadDisruption: options.allowWorkloadDisruption,
    bandwidthPerMigration: bytesQuantity(options.bandwidth ?? 0),
    completionTimeoutPerGiB: options.completionTimeoutPerGiB,
    maxDowntimeMs: options.maxDowntimeMs,
    progressTimeout: options.progressTimeout,
    unsafeMigrationOverride: options.unsafe,
  });

const time = (at: string | undefined): string | undefined => (at === undefined ? undefined : timestamp(at));

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the members that are undefined. */
const present = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;
