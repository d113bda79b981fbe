/** Steps of a migration's workflow in the phases of its object (docs/migration.md). */
const STEPS: Record<string, readonly string[]> = {
  Pending: ['AdmitMigration', 'ProposeMigration', 'AcquirePermit'],
  Scheduling: ['CreateTargetPod', 'AwaitTargetPod', 'InspectSource'],
  Scheduled: ['RecordMove', 'PrepareMigrationTarget'],
  PreparingTarget: ['RecordMove', 'PrepareMigrationTarget'],
  TargetReady: ['MigrateVMI'],
  Running: ['MigrateVMI', 'ResolveMigration', 'TakeUpTarget', 'FinalizeMigration', 'MoveToken'],
  Succeeded: ['RetireSource'],
};

/** A step is one of this phase. What is taken back is so in any. */
export const belongs = (step: string, phase: string): boolean =>
  /^(Undo|Clean up) /.test(step) || (STEPS[phase]?.includes(step) ?? false);
