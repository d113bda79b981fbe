import { expect, test } from '@jest/globals';
import { CoalescingQueue } from '../../../../../workers/controller/bridge/queue.ts';
import { until } from '../../../../support/until.ts';

const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

test('while one value of a key is delivered, later ones become one', async () => {
  const delivered: number[] = [];
  const first = gate();
  const queue = new CoalescingQueue<number>({
    deliver: async (_, value) => {
      if (delivered.push(value) === 1) await first.opened;
    },
    onFailure: () => undefined,
  });
  [1, 2, 3, 4].forEach((value) => queue.put('a', value));
  expect(queue.size).toBe(2);
  first.open();
  await until('all are delivered', () => queue.size === 0);
  expect(delivered).toEqual([1, 4]);
});

test('a key that is stuck does not hold up another', async () => {
  const delivered: string[] = [];
  const stuck = gate();
  const queue = new CoalescingQueue<string>({
    deliver: async (key, value) => {
      if (key === 'stuck') await stuck.opened;
      delivered.push(value);
    },
    onFailure: () => undefined,
  });
  queue.put('stuck', 'late');
  queue.put('other', 'soon');
  await until('the other is delivered', () => delivered.length === 1);
  expect(delivered).toEqual(['soon']);
  stuck.open();
  await until('both are delivered', () => queue.size === 0);
});

test('what fails is delivered later, in its newest version', async () => {
  const delivered: number[] = [];
  let isDown = true;
  const failures: string[] = [];
  const queue = new CoalescingQueue<number>({
    deliver: (_, value) => {
      if (isDown) return Promise.reject(new Error('down'));
      delivered.push(value);
      return Promise.resolve();
    },
    onFailure: (key) => failures.push(key),
    maxBackoffMs: 10,
  });
  queue.put('a', 1);
  await until('it failed', () => failures.length > 0);
  queue.put('a', 2);
  queue.put('a', 3);
  isDown = false;
  await until('it is delivered', () => queue.size === 0);
  expect(delivered).toEqual([3]);
});

test('no more deliveries at a time than allowed', async () => {
  let now = 0;
  let most = 0;
  const go = gate();
  const queue = new CoalescingQueue<number>({
    deliver: async () => {
      most = Math.max(most, ++now);
      await go.opened;
      now -= 1;
    },
    onFailure: () => undefined,
    concurrency: 3,
  });
  for (let key = 0; key < 20; key += 1) queue.put(String(key), key);
  go.open();
  await until('all are delivered', () => queue.size === 0);
  expect(most).toBe(3);
});

test('a stopped queue forgets what waits and takes nothing more', async () => {
  const delivered: string[] = [];
  const first = gate();
  const queue = new CoalescingQueue<string>({
    deliver: async (_, value) => {
      delivered.push(value);
      await first.opened;
    },
    onFailure: () => undefined,
    concurrency: 1,
  });
  queue.put('a', '1');
  queue.put('b', '2');
  queue.stop();
  queue.put('c', '3');
  first.open();
  await until('nothing is left', () => queue.size === 0);
  expect(delivered).toEqual(['1']);
});

test('what comes last waits for all that came meanwhile', async () => {
  const delivered: string[] = [];
  const first = gate();
  const queue = new CoalescingQueue<string>({
    deliver: async (_, value) => {
      if (delivered.push(value) === 1) await first.opened;
    },
    onFailure: () => undefined,
    isLast: (key) => key.startsWith('new'),
    concurrency: 1,
  });
  ['new 1', 'new 2', 'known', 'new 3'].forEach((key) => queue.put(key, key));
  first.open();
  await until('all are delivered', () => queue.size === 0);
  expect(delivered).toEqual(['new 1', 'known', 'new 2', 'new 3']);
});
