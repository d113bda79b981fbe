import { CancellationScope, condition } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { StepRecord } from '../../api/contract/operations.ts';
import { found, isCancellation, isDefect, isRetryable, toFailureInfo } from '../shared/failures.ts';
import { after, msUntil, now } from '../shared/time.ts';
import type { Journal } from './journal.ts';
import type { Observations } from './observations.ts';
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
  /** Never gives up on a failure that may pass, because giving up would not be safe. */
  endless?: boolean;
  run: (round: Round) => Promise<T>;
}

/** Runs rounds of a step until one succeeds, with the step's durable back-off in between. */
export const newCarrier =
  (journal: Journal, seen: Observations) =>
  async <T>(record: StepRecord, { node, endless, run }: Work<T>): Promise<T> => {
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
        if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
          journal.end(record, 'cancelled');
          throw error;
        }
        const failure = toFailureInfo(error, node);
        const verdict = afterFailure({
          ...{ failure, retryable: isRetryable(error, failure), endless: endless === true },
          ...{ round: record.attempts, elapsedMs: msUntil(now(), record.startedAt) },
        });
        if (verdict !== 'retry') {
          record.failure = failure;
          journal.end(record, 'failed');
          if (verdict === 'fail') throw error;
          throw found('DeadlineExceeded', `${record.name} waited a day in vain; last: ${failure.message}`);
        }
        await backOff(journal, seen, record, failure, calls);
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
  calls: number,
): Promise<void> => {
  const ms = backOffMs(record.attempts);
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
