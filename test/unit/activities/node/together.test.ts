import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { together } from '../../../../activities/node/together.ts';

const never = new AbortController().signal;

test('all results, in order', async () => {
  expect(await together(never, () => [delay(2, 'a'), Promise.resolve(1)])).toEqual(['a', 1]);
});

test('the first failure cancels the others and is the one that is told, once none is left running', async () => {
  let ended = false;
  const wait = (cancelled: AbortSignal): Promise<void> =>
    delay(600_000, undefined, { signal: cancelled }).finally(() => (ended = true));
  await expect(together(never, (c) => [wait(c), Promise.reject(new Error('first'))])).rejects.toThrow('first');
  expect(ended).toBe(true);
});

test('a cancellation from outside reaches all', async () => {
  const outside = AbortSignal.timeout(2);
  await expect(together(outside, (c) => [delay(600_000, 1, { signal: c })])).rejects.toMatchObject({
    name: 'AbortError',
  });
});
