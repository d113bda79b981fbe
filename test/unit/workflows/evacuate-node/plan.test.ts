import { describe, expect, test } from '@jest/globals';
import type { EvacuationView, Leaving } from '../../../../api/contract/evacuation.ts';
import type { Memory } from '../../../../workflows/evacuate-node/plan.ts';
import { backoffMs, initialMemory, plan } from '../../../../workflows/evacuate-node/plan.ts';
import { isStill } from '../../../../workflows/evacuate-node/words.ts';

const AT = '2026-01-01T00:10:00.000Z';
const vmi = (name: string) => ({ namespace: 'shop', name, uid: name });
const leaving = (name: string, more: Partial<Leaving> = {}): Leaving => ({ vmi: vmi(name), by: 'eviction', ...more });
const view = (more: Partial<EvacuationView> = {}): EvacuationView => ({
  ...{ cordoned: true, leaving: [], unwanted: [] },
  ...more,
});
const memory = (more: Partial<Memory> = {}): Memory => ({ ...initialMemory(AT), wasCordoned: true, ...more });
const failed = (count: number, at: string) => ({ failed: { count, name: 'm1', at, message: 'no room' } });

test.each([
  [1, 20],
  [2, 40],
  [3, 80],
  [4, 160],
  [5, 320],
  [9, 320],
])('after %i failures in a row the next migration waits %i s', (failures, seconds) => {
  expect(backoffMs(failures)).toBe(seconds * 1000);
});

describe('an instance that is to leave', () => {
  test.each<[string, Partial<Leaving>, Partial<Memory>, string, string | undefined]>([
    ['has no migration', {}, {}, 'beginning', undefined],
    ['has one', { migration: { name: 'm1', phase: 'Pending' } }, {}, 'moving', undefined],
    [
      'has one although an obstacle has come since',
      { migration: { name: 'm1', phase: 'Running' }, obstacle: { reason: 'PodsLeft', message: 'x' } },
      {},
      'moving',
      undefined,
    ],
    [
      'cannot be migrated',
      { obstacle: { reason: 'NotMigratable', message: 'a disk of one node' } },
      {},
      'obstructed',
      undefined,
    ],
    ['failed a moment ago', failed(1, '2026-01-01T00:09:50Z'), {}, 'backingOff', '2026-01-01T00:10:10.000Z'],
    ['failed 20 s ago', failed(1, '2026-01-01T00:09:40Z'), {}, 'beginning', undefined],
    ['failed twice', failed(2, '2026-01-01T00:09:40Z'), {}, 'backingOff', '2026-01-01T00:10:20.000Z'],
    [
      'was refused a moment ago',
      {},
      { refused: { a: { failure: { type: 'Forbidden', message: 'no' }, retryAt: '2026-01-01T00:10:30.000Z' } } },
      'refused',
      '2026-01-01T00:10:30.000Z',
    ],
    [
      'was refused a while ago',
      {},
      { refused: { a: { failure: { type: 'Forbidden', message: 'no' }, retryAt: '2026-01-01T00:09:30.000Z' } } },
      'beginning',
      undefined,
    ],
  ])('%s', (_, more, known, standing, nextTryAt) => {
    const planned = plan(view({ leaving: [leaving('a', more)] }), memory(known), AT);
    expect(planned.leaving).toMatchObject([{ standing, ...(nextTryAt === undefined ? {} : { nextTryAt }) }]);
    expect(planned.create).toEqual(standing === 'beginning' ? [vmi('a')] : []);
    expect(planned.wakeAt).toBe(nextTryAt);
    expect(planned.end).toBeUndefined();
  });
});

test('the next look comes when the first of those who wait may try again', () => {
  const both = [
    leaving('a', failed(2, '2026-01-01T00:09:50Z')),
    leaving('b', failed(1, '2026-01-01T00:09:50Z')),
    leaving('c', { obstacle: { reason: 'External', message: 'x' } }),
  ];
  expect(plan(view({ leaving: both }), memory(), AT).wakeAt).toBe('2026-01-01T00:10:10.000Z');
});

test('that a migration is put off is told once for each that failed', () => {
  const asked = view({ leaving: [leaving('a', failed(1, '2026-01-01T00:09:50Z'))] });
  const told = { vmi: vmi('a'), failed: 'm1', until: '2026-01-01T00:10:10.000Z' };
  expect(plan(asked, memory(), AT).backoffs).toEqual([told]);
  expect(plan(asked, memory({ told: { a: 'm0' } }), AT).backoffs).toEqual([told]);
  expect(plan(asked, memory({ told: { a: 'm1' } }), AT).backoffs).toEqual([]);
});

describe('a node that is made schedulable again', () => {
  const uncordoned = view({
    cordoned: false,
    leaving: [leaving('a'), leaving('b', { migration: { name: 'm', phase: 'Running' } })],
  });

  test('need not be emptied: every request is taken back, and nothing more begins', () => {
    const planned = plan(uncordoned, memory(), AT);
    expect(planned.withdraw).toEqual([vmi('a'), vmi('b')]);
    expect(planned.create).toEqual([]);
  });

  test('is one that was cordoned: of a single Pod a descheduler evicts, nothing is taken back', () => {
    const planned = plan(uncordoned, memory({ wasCordoned: false }), AT);
    expect(planned.withdraw).toEqual([]);
    expect(planned.create).toEqual([vmi('a')]);
  });

  test.each<[string, Partial<Leaving>]>([
    ['what another controller was asked for', { obstacle: { reason: 'External', message: 'x' } }],
    ['what a taint asks for', { by: 'taint' }],
  ])('does not take back %s', (_, more) => {
    const asked = view({ cordoned: false, leaving: [leaving('a', more)] });
    expect(plan(asked, memory(), AT).withdraw).toEqual([]);
  });
});

test('migrations that nobody wants any more are cancelled before it ends', () => {
  const unwanted = { namespace: 'shop', name: 'm1', uid: 'u1' };
  const planned = plan(view({ unwanted: [unwanted] }), memory(), AT);
  expect(planned.cancel).toEqual([unwanted]);
  expect(planned.end).toBeUndefined();
});

test.each<[string, Partial<EvacuationView>, Partial<Memory>, string]>([
  ['nobody is to leave any more', {}, {}, 'done'],
  ['it was taken back', { cordoned: false }, { uncordoned: true, wasCordoned: false }, 'uncordoned'],
  ['the Node is gone', { gone: true }, {}, 'nodeGone'],
])('it ends when %s', (_, seen, known, end) => {
  expect(plan(view(seen), memory(known), AT).end).toBe(end);
});

test.each<[string, Leaving[], boolean]>([
  ['nobody is to leave', [], false],
  [
    'one moves, one cannot',
    [leaving('a', { migration: { name: 'm', phase: 'Pending' } }), leaving('b', failed(1, AT))],
    false,
  ],
  ['one is about to', [leaving('a')], false],
  [
    'all wait',
    [leaving('a', failed(1, AT)), leaving('b', { obstacle: { reason: 'NotMigratable', message: 'x' } })],
    true,
  ],
])('whether it stands still: %s', (_, all, still) => {
  const { leaving: shown } = plan(view({ leaving: all }), memory(), AT);
  expect(isStill({ node: { name: 'n', uid: 'u' }, since: AT, cordoned: true, leaving: shown })).toBe(still);
});
