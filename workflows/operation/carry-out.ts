import { CancellationScope, CancelledFailure, condition } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { StepRecord } from '../../api/contract/operations.ts';
import { found, isCancellation, isDefect, isRetryable, toFailureInfo } from '../shared/failures.ts';
import { after, msUntil, now } from '../shared/time.ts';
import type { Journal } from './journal.ts';
import type { Observations } from './observations.ts';
import type { Endless } from './patience.ts';
import { afterFailure, backOffMs } from './patience.ts';

/** What a step's function gets in each of its rounds. */
export interface Round {
  /** For the activities of this round, shown in the UI. */
  summary: string;
  /** What the step found, in words. */
  note: (text: string) => void;
  /** Shows what stands in the way without failing; undefined: nothing any more. */
  trouble: (failure: FailureInfo | undefined) => void;
}

export interface Work<T> {
  /** Node whose worker does it; absent: the controller. */
  node?: string;
  endless?: Endless;
  /** Milliseconds after which it gives up on failures that may pass; absent: a day for waits on the outside, ten minutes otherwise. */
  limitMs?: number;
  run: (round: Round) => Promise<T>;
}

/** Runs rounds of a step until one succeeds, with the step's durable back-off in between. */
export const newCarrier =
  (journal: Journal, seen: Observations) =>
  async <T>(record: StepRecord, { node, endless = false, limitMs, run }: Work<T>): Promise<T> => {
    for (;;) {
      record.attempts += 1;
      journal.changed();
      const calls = seen.calls();
      try {
        const value = await run(roundOf(journal, record));
        journal.end(record, 'done');
        return value;
      } catch (error) {
        if (isDefect(error)) throw error;
        const isCancelled = CancellationScope.current().consideredCancelled || error instanceof CancelledFailure;
        if (isCancellation(error) && isCancelled) {
          journal.end(record, 'cancelled');
          throw error;
        }
        const failure = toFailureInfo(error, node);
        const elapsedMs = msUntil(now(), record.startedAt);
        const verdict = afterFailure({
          ...{ failure, retryable: isRetryable(error, failure), endless, round: record.attempts, elapsedMs },
          ...(limitMs === undefined ? {} : { limitMs }),
        });
        if (verdict !== 'retry') {
          record.failure = failure;
          journal.end(record, 'failed');
          if (verdict === 'fail') throw error;
          const waited = limitMs === undefined ? 'a day' : `${Math.round(limitMs / 1000)} s`;
          throw found('DeadlineExceeded', `${record.name} waited ${waited} in vain; last: ${failure.message}`);
        }
        const left = limitMs === undefined ? Infinity : limitMs - elapsedMs;
        await backOff(journal, seen, record, failure, { calls, left });
      }
    }
  };

const roundOf = (journal: Journal, record: StepRecord): Round => ({
  summary: record.attempts === 1 ? record.name : `${record.name}, round ${record.attempts}`,
  note: (text) => void (record.note = text),
  trouble: (failure) => journal.trouble(record, failure),
});

/** Waits for the next round; what was called out since the round began ends the wait at once. */
const backOff = async (
  journal: Journal,
  seen: Observations,
  record: StepRecord,
  failure: FailureInfo,
  { calls, left }: { calls: number; left: number },
): Promise<void> => {
  const ms = Math.min(backOffMs(record.attempts), left);
  record.nextTryAt = after(now(), ms);
  journal.trouble(record, failure);
  try {
    await condition(() => seen.calls() > calls, ms, { summary: `${record.name}: ${failure.type}` });
  } catch (cancelled) {
    journal.end(record, 'cancelled');
    throw cancelled;
  }
  delete record.nextTryAt;
  record.state = 'running';
};
