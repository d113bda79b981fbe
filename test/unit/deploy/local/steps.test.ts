import { expect, test } from '@jest/globals';
import { throttle } from '../../../../deploy/local/steps.ts';

test('progress is passed on at once, then at most once per interval', () => {
  let now = 0;
  const seen: string[] = [];
  const report = throttle(
    100,
    () => now,
    (line) => seen.push(line),
  );
  for (const [time, line] of [
    [0, 'first'],
    [99, 'dropped'],
    [100, 'second'],
    [150, 'dropped'],
    [900, 'third'],
  ] as const) {
    now = time;
    report(line);
  }
  expect(seen).toEqual(['first', 'second', 'third']);
});
