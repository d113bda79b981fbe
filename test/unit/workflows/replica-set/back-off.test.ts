import { expect, test } from '@jest/globals';
import type { Replica, ReplicaSetView } from '../../../../api/contract/replica-sets.ts';
import type { BackOff } from '../../../../workflows/replica-set/back-off.ts';
import { withFailures } from '../../../../workflows/replica-set/back-off.ts';
import { after, msUntil } from '../../../../workflows/shared/time.ts';

const START = '2026-01-01T00:00:00Z';
const at = (seconds: number): string => after(START, seconds * 1000);

/** Created, running since, ended: in seconds. */
const one = (name: string, created: number, ran?: number, ended?: number): Replica => ({
  ...{ vmi: { namespace: 'shop', name, uid: name }, ready: false, createdAt: at(created) },
  standing: ended === undefined ? 'active' : 'ended',
  ...(ran === undefined ? {} : { runningSince: at(ran) }),
  ...(ended === undefined ? {} : { endedAt: at(ended) }),
});
const view = (replicas: Replica[], generation = 1): ReplicaSetView => ({
  ...{ deleting: false, paused: false, wanted: 3, replicas, generation },
});
const failedTwice: BackOff = { count: 2, since: at(100), retryAt: at(150), generation: 1 };

test.each<[string, BackOff | undefined, ReplicaSetView, number]>([
  ['all are well', undefined, view([one('a', 0, 5)]), 0],
  ['one never ran', undefined, view([one('a', 0, undefined, 5)]), 1],
  ['one ended at once', undefined, view([one('a', 0, 5, 64)]), 1],
  ['one ended after it had worked', undefined, view([one('a', 0, 5, 65)]), 0],
  ['some that were created together count once', undefined, view([one('a', 0, 1, 2), one('b', 0, 1, 2)]), 1],
  ['it fails again', failedTwice, view([one('a', 150, 155, 160)]), 3],
  ['one that was created before the last count', failedTwice, view([one('a', 100, 155, 160)]), 2],
  ['nothing came of it yet', failedTwice, view([one('a', 150, 155)]), 2],
  ['the next works', failedTwice, view([one('a', 150, 155)]), 0],
  ['another one works, but was created before', failedTwice, view([one('a', 50, 55)]), 2],
  ['one worked, another fails', failedTwice, view([one('a', 150, 155), one('b', 150, 155, 160)]), 1],
  ['the spec has changed', failedTwice, view([], 2), 0],
  [
    'one that is being deleted was not asked to run',
    undefined,
    view([{ ...one('a', 0, 1, 2), standing: 'leaving' }]),
    0,
  ],
  ['not known when it ended', undefined, view([{ ...one('a', 0), standing: 'ended' }]), 0],
])('%s', (what, before, seen, count) => {
  const now = what === 'the next works' || what === 'one worked, another fails' ? at(300) : at(160);
  expect(withFailures(before, seen, now)?.count ?? 0).toBe(count);
});

test('the next are created after the time of a crash loop', () => {
  let backOff: BackOff | undefined;
  let now = at(0);
  const waits = [1, 2, 3, 4, 5, 6].map((n) => {
    backOff = withFailures(backOff, view([{ ...one(`v${n}`, 0, 0, 1), createdAt: now }]), after(now, 5_000));
    now = backOff?.retryAt ?? '';
    return msUntil(now, backOff?.since ?? '') / 1000;
  });
  const ranges = [
    [10, 15],
    [40, 60],
    [90, 135],
    [160, 240],
    [250, 300],
    [300, 300],
  ];
  waits.forEach((seconds, index) => {
    expect(seconds).toBeGreaterThanOrEqual(ranges[index]?.[0] ?? 0);
    expect(seconds).toBeLessThanOrEqual(ranges[index]?.[1] ?? 0);
  });
});
