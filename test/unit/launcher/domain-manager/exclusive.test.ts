import { expect, test } from '@jest/globals';
import { coalesced, exclusive } from '../../../../launcher/domain-manager/exclusive.ts';

test('tasks run one after the other, a failed one included', async () => {
  const log: string[] = [];
  const inOrder = exclusive();
  const task =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const results = await Promise.allSettled([inOrder(task('a', true)), inOrder(task('b'))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('callers during a run share one run that begins after it', async () => {
  let begun = 0;
  const task = coalesced(async () => {
    begun += 1;
    await Promise.resolve();
  });
  const first = task();
  await Promise.all([first, task(), task(), task()]);
  expect(begun).toBe(2);
  await task();
  expect(begun).toBe(3);
});

test('a failed run fails its own callers only', async () => {
  let fail = true;
  const task = coalesced(() => (fail ? Promise.reject(new Error('no')) : Promise.resolve()));
  const first = task();
  fail = false;
  const second = task();
  await expect(first).rejects.toThrow('no');
  await expect(second).resolves.toBeUndefined();
});
