import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import { Placements } from '../../../../../workers/controller/informers/placed.ts';

const pod = (uid: string, nodeName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, name: uid },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
});
const watching = (...pods: Pod[]): Placements =>
  new Placements({ get: (uid) => pods.find(({ metadata }) => metadata?.uid === uid) });

test('a Pod that has its node already is told at once', async () => {
  expect(await watching(pod('p1', 'n1')).placed('p1')).toEqual(pod('p1', 'n1'));
});

test('who waits for a Pod is told when the watch says that it has its node, and of no other Pod', async () => {
  const placements = watching(pod('p1'));
  const placed = placements.placed('p1', 60_000);
  placements.changed({ after: pod('p2', 'n1') });
  placements.changed({ after: pod('p1') });
  placements.changed({ before: pod('p1'), after: pod('p1', 'n2') });
  expect(await placed).toEqual(pod('p1', 'n2'));
});

test('a Pod that the scheduler finds no node for is not waited for', async () => {
  const placements = watching(pod('p1'));
  const placed = placements.placed('p1', 60_000);
  const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable' };
  placements.changed({ after: { ...pod('p1'), status: { conditions: [condition] } } });
  expect(await placed).toBeUndefined();
});

test('a Pod that gets no node is not waited for any longer than that', async () => {
  expect(await watching().placed('p1', 1)).toBeUndefined();
});

test('who waits for a Pod to go is told when the watch says so, and of no other Pod', async () => {
  const placements = watching(pod('p1', 'n1'));
  let isGone = false;
  const removed = placements.removed('p1', 60_000).then(() => (isGone = true));
  placements.changed({ before: pod('p2', 'n1') });
  placements.changed({ before: pod('p1', 'n1'), after: pod('p1', 'n1') });
  await Promise.resolve();
  expect(isGone).toBe(false);
  placements.changed({ before: pod('p1', 'n1') });
  await removed;
});

test('a Pod that stays, or that no watch has shown, is not waited for any longer', async () => {
  await watching(pod('p1', 'n1')).removed('p1', 1);
  await watching().removed('p1', 60_000);
});
