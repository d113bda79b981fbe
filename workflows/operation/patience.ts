import type { FailureInfo, FailureType } from '../../api/contract/failures.ts';

/** Failures that are waits on the outside: nothing is broken, something has to come first. */
export const WAITS: readonly FailureType[] = [
  'VolumeNotFound',
  'VolumeNotReady',
  'NetworkNotFound',
  'QuotaExceeded',
  'NotAuthorized',
  'TokenHeld',
  'NoWorker',
  'PodNotReady',
];

/** How long a step waits on the outside before the operation gives up. */
export const WAIT_LIMIT_MS = 24 * 3600_000;

/** A failure that may pass, but is not a wait on the outside, ends the step after so many rounds and not before so long. */
export const ROUNDS = 10;
export const ROUNDS_LIMIT_MS = 10 * 60_000;

const BACK_OFF_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300];
/** From here on (some 3 hours) an hour lies between rounds, so that no wait, however long, fills a history. */
const HOURLY_FROM_ROUND = 40;

/** Durable back-off after the given round (from 1). */
export const backOffMs = (round: number): number => {
  if (round > HOURLY_FROM_ROUND) return 3600_000;
  return 1000 * (BACK_OFF_SECONDS[Math.min(round, BACK_OFF_SECONDS.length) - 1] ?? 1);
};

export interface Patience {
  failure: FailureInfo;
  retryable: boolean;
  round: number;
  /** Since the step began. */
  elapsedMs: number;
  /** The step must come to its end, however long it takes, because giving up would not be safe. */
  endless: Endless;
  /** Milliseconds after which it is given up, whatever failed; absent: the usual limits. */
  limitMs?: number;
}

/** `true`: never gives up on a failure that may pass. `whatever`: on no failure at all, because there is no other way to go. */
export type Endless = boolean | 'whatever';

/** What `step` does after a failed round. */
export const afterFailure = ({
  failure,
  retryable,
  round,
  elapsedMs,
  endless,
  limitMs,
}: Patience): 'retry' | 'fail' | 'deadline' => {
  if (endless === 'whatever') return 'retry';
  if (!retryable) return 'fail';
  if (endless) return 'retry';
  if (limitMs !== undefined) return elapsedMs < limitMs ? 'retry' : 'deadline';
  if ((WAITS as readonly string[]).includes(failure.type)) return elapsedMs < WAIT_LIMIT_MS ? 'retry' : 'deadline';
  return round < ROUNDS || elapsedMs < ROUNDS_LIMIT_MS ? 'retry' : 'fail';
};
