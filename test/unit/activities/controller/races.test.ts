import { expect, test } from '@jest/globals';
import { fromCacheFirst } from '../../../../activities/controller/races.ts';
import { KubeError } from '../../../../activities/kube/port.ts';

const conflict = (): Promise<never> => Promise.reject(new KubeError(409, 'Conflict', 'it has changed'));

test.each<[string, string | undefined, (known?: string) => Promise<boolean>, (string | undefined)[]]>([
  ['what a watch has shown is enough to write', 'cached', () => Promise.resolve(true), ['cached']],
  ['a watch that shows nothing is not asked', undefined, () => Promise.resolve(true), [undefined]],
  ['a watch cannot say that there is nothing to write', 'cached', () => Promise.resolve(false), ['cached', undefined]],
  [
    'a watch that was behind is followed by a live read',
    'cached',
    (known) => (known === undefined ? Promise.resolve(true) : conflict()),
    ['cached', undefined],
  ],
])('%s', async (_, cached, write, expected) => {
  const reads: (string | undefined)[] = [];
  const value = await fromCacheFirst(cached, async (known?: string) => {
    reads.push(known);
    return { wrote: await write(known), value: known ?? 'live' };
  });
  expect(reads).toEqual(expected);
  expect(value).toBe(expected.at(-1) ?? 'live');
});

test('any other failure is not tried again', async () => {
  const refused = fromCacheFirst('cached', () => Promise.reject(new KubeError(422, 'Invalid', 'no')));
  await expect(refused).rejects.toThrow('no');
});
