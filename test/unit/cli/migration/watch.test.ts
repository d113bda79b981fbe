import { expect, test } from '@jest/globals';
import { progressIn } from '../../../../cli/migration/watch.ts';
import { NUMBERS } from './samples.ts';

test('heartbeat details are progress only if they look like it', () => {
  expect(progressIn(NUMBERS)).toBe(NUMBERS);
  for (const other of [undefined, null, 'still here', {}, { totalBytes: 1 }]) expect(progressIn(other)).toBeUndefined();
});
