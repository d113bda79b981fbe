import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { DomainReport, DomainState } from '../../../../../api/launcher/reports.ts';
import { deliverTo } from '../../../../../workers/node/launchers/delivery.ts';
import { report } from '../../../../support/launcher-server.ts';
import { until } from '../../../../support/until.ts';

const quiet = { warn: () => {}, debug: () => {} };
let over: AbortController;
beforeEach(() => {
  over = new AbortController();
});
afterEach(() => over.abort());

const at = (n: number, state: DomainState = 'running', podUid = 'pod'): DomainReport =>
  report(podUid, { sequence: { epoch: 1, n }, state });

const start = (send: (report: DomainReport) => Promise<void>): ReturnType<typeof deliverTo> =>
  deliverTo({ send, log: quiet, signal: over.signal, retryMs: { first: 1, most: 4 } });

test('each report arrives, in order', async () => {
  const sent: number[] = [];
  const delivery = start(({ sequence }) => (sent.push(sequence.n), Promise.resolve()));
  for (const n of [1, 2, 3]) {
    delivery.offer(at(n));
    await delivery.settled();
  }
  expect(sent).toEqual([1, 2, 3]);
  expect(delivery.waiting()).toBe(0);
});

test('while Temporal is down only the newest of each Pod is kept, and it arrives later', async () => {
  let down = true;
  let attempts = 0;
  const sent: string[] = [];
  const delivery = start(({ podUid, sequence }) => {
    attempts += 1;
    if (down) return Promise.reject(new Error('UNAVAILABLE'));
    sent.push(`${podUid}/${sequence.n}`);
    return Promise.resolve();
  });
  delivery.offer(at(1));
  delivery.offer(at(1, 'running', 'other'));
  delivery.offer(at(2));
  await until('several attempts', () => attempts > 5);
  delivery.offer(at(3, 'shutoff'));
  expect(delivery.waiting()).toBe(2);
  down = false;
  await delivery.settled();
  expect(sent.sort()).toEqual(['other/1', 'pod/3']);
});

test('a newer report that comes while an older one is under way follows it', async () => {
  const sent: number[] = [];
  let release = (): void => {};
  const delivery = start(async ({ sequence }) => {
    sent.push(sequence.n);
    if (sequence.n === 1) await new Promise<void>((resolve) => (release = resolve));
  });
  delivery.offer(at(1));
  delivery.offer(at(2));
  release();
  await delivery.settled();
  expect(sent).toEqual([1, 2]);
});

test('an older report never replaces a newer one', async () => {
  const sent: number[] = [];
  let fail = true;
  const delivery = start(({ sequence }) => {
    if (fail) return Promise.reject(new Error('UNAVAILABLE'));
    sent.push(sequence.n);
    return Promise.resolve();
  });
  delivery.offer(at(5));
  delivery.offer(at(4));
  fail = false;
  await delivery.settled();
  expect(sent).toEqual([5]);
});

test('an entity that does not exist has nothing to be told', async () => {
  let attempts = 0;
  const delivery = start(() => {
    attempts += 1;
    return Promise.reject(new WorkflowNotFoundError('not found', 'vmi/a/b/c', undefined));
  });
  delivery.offer(at(1));
  await delivery.settled();
  expect(attempts).toBe(1);
  expect(delivery.waiting()).toBe(0);
});

test('the signal ends every attempt', async () => {
  const delivery = start(() => Promise.reject(new Error('UNAVAILABLE')));
  delivery.offer(at(1));
  over.abort();
  await delivery.settled();
  expect(delivery.waiting()).toBe(1);
});
