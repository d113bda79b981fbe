import type { ConditionReport } from '../../../api/contract/activities.ts';
import type { MigrationReport } from '../../../api/contract/migrations.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { mergeConditions, timestamp } from '../conditions.ts';
import { mergePatchOf } from '../merge-patch.ts';
import { migrationState } from './migration-state.ts';

/** Conditions of a VMIM: the first two are KubeVirt's. */
const CONDITION = {
  abort: 'migrationAbortRequested',
  quota: 'migrationRejectedByResourceQuota',
  /** What stands in the way of a migration that is not over. */
  waiting: 'Waiting',
  /** Why a migration failed. */
  failure: 'Failure',
  unknown: 'MigrationOutcomeUnknown',
} as const;
const OWNED = new Set<string>(Object.values(CONDITION));

/**
 * What has to change in a VMIM's status so that it says what its workflow knows; undefined when it says so already. A migration that is over stays
 * over: a run that has not heard of it changes nothing.
 * @param now RFC 3339, for conditions whose status changes
 */
export const migrationPatch = (
  vmim: VirtualMachineInstanceMigration,
  report: MigrationReport,
  now: string,
): Record<string, unknown> | undefined => {
  const { status } = vmim;
  if (isFinal(status?.phase) && status?.phase !== report.phase) return undefined;
  return mergePatchOf(vmim, {
    status: {
      phase: report.phase,
      phaseTransitionTimestamps: phaseTimes(vmim, report),
      conditions: mergeConditions(
        status?.conditions ?? [],
        migrationConditions(report),
        (type) => OWNED.has(type),
        timestamp(now),
      ),
      migrationState: migrationState(report),
    },
  });
};

/** Conditions of a migration as its workflow knows it. */
export const migrationConditions = (report: MigrationReport): ConditionReport[] => {
  const { abort, failure, outcomeUnknown, phase } = report;
  const is = (type: string, reason: string, message: string): ConditionReport[] => [
    { type, status: 'True', reason, message },
  ];
  return [
    ...(abort === undefined
      ? []
      : is(CONDITION.abort, 'Deleted', 'the migration was asked to end: it is being deleted')),
    ...(failure === undefined ? [] : is(failureType(phase), failure.type, failure.message)),
    ...(failure?.type === 'QuotaExceeded' && !isFinal(phase) ? is(CONDITION.quota, failure.type, failure.message) : []),
    ...(outcomeUnknown === undefined ? [] : is(CONDITION.unknown, 'Unproven', outcomeUnknown)),
  ];
};

const failureType = (phase: string): string => (isFinal(phase) ? CONDITION.failure : CONDITION.waiting);

/** Times on the object stay (they may be older than this run's memory); phases that are not there yet are added. */
const phaseTimes = ({ status }: VirtualMachineInstanceMigration, { phaseTimes }: MigrationReport): object[] => {
  const known = status?.phaseTransitionTimestamps ?? [];
  const added = phaseTimes.filter(({ phase }) => !known.some((entry) => entry.phase === phase));
  return [...known, ...added.map(({ phase, at }) => ({ phase, phaseTransitionTimestamp: timestamp(at) }))];
};
