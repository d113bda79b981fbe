import { activitiesOf } from '../activities-of.ts';
import type { Operation } from './operations.ts';

/** An activity that a run has called, and the step that asked for it. */
export interface RecordedCall {
  /** Counted from 0, in the order in which they were called. */
  at: number;
  /** Counted from 0 among those of its type. */
  nth: number;
  step: string;
  activity: string;
}

/** What a run did, from its history: the fault tables walk it, so there is no second list of steps to keep. */
export const recordedCalls = async (operation: Operation): Promise<RecordedCall[]> => {
  const { events } = await operation.fetchHistory();
  return activitiesOf(events).map(({ activity, summary }, at, all) => ({
    ...{ at, activity, step: summary.split(',')[0] ?? summary },
    nth: all.slice(0, at).filter((other) => other.activity === activity).length,
  }));
};
