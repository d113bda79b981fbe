import { expect, test } from '@jest/globals';
import type { Replica, ReplicaSetView } from '../../../../api/contract/replica-sets.ts';
import { AT_A_TIME, plan } from '../../../../workflows/replica-set/plan.ts';

const one = (name: string, more: Partial<Replica> = {}): Replica => ({
  ...{
    vmi: { namespace: 'shop', name, uid: name },
    standing: 'active',
    ready: true,
    createdAt: '2026-01-01T00:00:00Z',
  },
  ...more,
});
const view = (wanted: number, replicas: Replica[], more: Partial<ReplicaSetView> = {}): ReplicaSetView => ({
  ...{ deleting: false, paused: false, wanted, replicas },
  ...more,
});
const two = [one('a'), one('b')];

test.each<[string, ReplicaSetView, number, string[]]>([
  ['as many as are wanted', view(2, two), 0, []],
  ['too few', view(5, two), 3, []],
  ['none yet', view(3, []), 3, []],
  ['none are wanted', view(0, two), 0, ['a', 'b']],
  ['one is being deleted: it does not count', view(2, [one('a'), one('b', { standing: 'leaving' })]), 1, []],
  ['one has ended: it makes room for another', view(2, [one('a'), one('b', { standing: 'ended' })]), 1, ['b']],
  ['too many: first one that is not ready', view(1, [one('a'), one('b', { ready: false })]), 0, ['b']],
  ['too many: then the youngest', view(1, [one('a', { createdAt: '2026-01-01T00:00:01Z' }), one('b')]), 0, ['a']],
  ['paused', view(5, [one('a', { standing: 'ended' })], { paused: true }), 0, []],
  ['being deleted: the garbage collector sees to it', view(0, two, { deleting: true }), 0, []],
  ['gone', view(3, [], { gone: true }), 0, []],
  ['a spec that cannot work', view(3, [], { invalid: 'spec.selector' }), 0, []],
])('%s', (_, seen, create, remove) => {
  const planned = plan(seen);
  expect({ ...planned, remove: planned.remove.map(({ name }) => name) }).toEqual({ create, remove });
});

test('many are created and deleted by and by', () => {
  expect(plan(view(1000, [])).create).toBe(AT_A_TIME);
  const all = Array.from({ length: 120 }, (_, index) => one(`v${index}`));
  expect(plan(view(0, all)).remove).toHaveLength(AT_A_TIME);
});

test('while a back-off lasts none are created, and what has ended is cleared away', () => {
  const ended = view(2, [one('a'), one('b', { standing: 'ended' })]);
  expect(plan(ended, { waits: true })).toEqual({ create: 0, remove: [one('b').vmi] });
});
