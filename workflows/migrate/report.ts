import { CancellationScope, log } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { MigrationPhase, MigrationReport } from '../../api/contract/migrations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { bookkeeping } from '../shared/proxies.ts';
import { now } from '../shared/time.ts';
import { newWriter } from '../shared/writer.ts';

type Change = { [K in keyof MigrationReport]?: MigrationReport[K] | undefined };

/** What a migration tells of itself, kept in one place, and the one writer of the VMIM's status. */
export interface Report {
  now: () => MigrationReport;
  /** A member that is undefined is taken out. */
  say: (change: Change) => void;
  /** Enters a phase. False: it is passed in no time, and told with the next one. */
  enter: (phase: MigrationPhase) => boolean;
  succeed: () => void;
  fail: (failure: FailureInfo) => void;
  /** A step waits, or waits no longer. */
  trouble: (failure: FailureInfo | undefined) => void;
  /** Writes the VMIM's status, if it differs, without being waited for. */
  publish: () => void;
  /** Everything is written. */
  written: () => Promise<void>;
}

const PASSED_AT_ONCE: MigrationPhase[] = ['Scheduled', 'TargetReady'];

export const newReport = (migration: ObjectRef): Report => {
  let report: MigrationReport = { migration, phase: 'Pending', phaseTimes: [{ phase: 'Pending', at: now() }] };
  const writer = newWriter(async (wanted: MigrationReport) => {
    await bookkeeping(`Publish ${wanted.phase}`)
      .publishMigration(wanted)
      .catch((error: unknown) => log.error('status refused', { failure: toFailureInfo(error) }));
  }, undefined);
  const publish = (): void => {
    const wanted = report;
    void CancellationScope.nonCancellable(() => Promise.resolve(writer.want(wanted, JSON.stringify(wanted))));
  };
  return {
    now: () => report,
    say: (change) => {
      report = changed(report, change);
    },
    enter: (phase) => {
      report = inPhase(report, phase, now());
      if (phase !== 'Pending' && !PASSED_AT_ONCE.includes(phase)) publish();
      return !PASSED_AT_ONCE.includes(phase);
    },
    succeed: () => {
      report = succeeded(report, now());
      publish();
    },
    fail: (failure) => {
      report = failed(report, failure, now());
      publish();
    },
    trouble: (failure) => {
      const isNews = JSON.stringify(failure) !== JSON.stringify(report.failure);
      if (isFinal(report) || !isNews) return;
      report = changed(report, { failure });
      publish();
    },
    publish,
    written: writer.idle,
  };
};

export const changed = (report: MigrationReport, change: Change): MigrationReport =>
  Object.fromEntries(
    Object.entries({ ...report, ...change }).filter(([, value]) => value !== undefined),
  ) as unknown as MigrationReport;

export const isFinal = ({ phase }: MigrationReport): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Phases only go forward. What stood in the way is past with a new phase, save the reason of the end. */
export const inPhase = (report: MigrationReport, phase: MigrationPhase, at: string): MigrationReport => {
  if (report.phase === phase || isFinal(report)) return report;
  const entered = { ...report, phase, phaseTimes: [...report.phaseTimes, { phase, at }] };
  return phase === 'Failed' ? entered : changed(entered, { failure: undefined, outcomeUnknown: undefined });
};

/** The guest runs in the target and the token says so. Whoever wanted to cancel came too late. */
export const succeeded = (report: MigrationReport, at: string): MigrationReport =>
  changed(inPhase(report, 'Succeeded', at), {
    endedAt: at,
    abort: report.abort === undefined ? undefined : 'failed',
  });

/** The source keeps the guest, or nobody has it. */
export const failed = (report: MigrationReport, failure: FailureInfo, at: string): MigrationReport =>
  isFinal(report)
    ? report
    : changed(inPhase(report, 'Failed', at), {
        ...{ failure, endedAt: at, outcomeUnknown: undefined },
        abort: report.abort === undefined ? undefined : 'succeeded',
      });
