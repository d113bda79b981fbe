import { expect, test } from '@jest/globals';
import type { FailureInfo } from '../../../../api/contract/failures.ts';
import {
  ROUNDS,
  ROUNDS_LIMIT_MS,
  WAIT_LIMIT_MS,
  afterFailure,
  backOffMs,
} from '../../../../workflows/operation/patience.ts';

test.each([
  [1, 1],
  [2, 2],
  [3, 5],
  [4, 10],
  [5, 30],
  [6, 60],
  [7, 120],
  [8, 300],
  [40, 300],
  [41, 3600],
])('after round %d the back-off is %d s', (round, seconds) => {
  expect(backOffMs(round)).toBe(seconds * 1000);
});

const LATE = ROUNDS_LIMIT_MS;
test.each<[FailureInfo['type'], boolean, number, number, boolean, ReturnType<typeof afterFailure>]>([
  ['InvalidSpec', false, 1, 0, false, 'fail'],
  ['InvalidSpec', false, 1, 0, true, 'fail'],
  ['Unknown', true, 1, 0, false, 'retry'],
  ['Unknown', true, ROUNDS, 0, false, 'retry'],
  ['Unknown', true, ROUNDS - 1, LATE, false, 'retry'],
  ['Unknown', true, ROUNDS, LATE, false, 'fail'],
  ['Unknown', true, 1000, 30 * WAIT_LIMIT_MS, true, 'retry'],
  ['VolumeNotFound', true, 1000, WAIT_LIMIT_MS - 1, false, 'retry'],
  ['VolumeNotFound', true, 1000, WAIT_LIMIT_MS, false, 'deadline'],
  ['NoWorker', true, ROUNDS, LATE, false, 'retry'],
])(
  '%s (retryable: %s) in round %d after %d ms, endless: %s → %s',
  (type, retryable, round, elapsedMs, endless, verdict) => {
    expect(afterFailure({ failure: { type, message: '' }, retryable, round, elapsedMs, endless })).toBe(verdict);
  },
);
