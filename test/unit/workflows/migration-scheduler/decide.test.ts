import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PermitHolder, PermitRequest } from '../../../../api/contract/migrations.ts';
import { decide } from '../../../../workflows/migration-scheduler/decide.ts';
import type {
  SchedulerCommand,
  SchedulerEvent,
  SchedulerState,
} from '../../../../workflows/migration-scheduler/state.ts';
import { initialState } from '../../../../workflows/migration-scheduler/state.ts';
import { statusOf } from '../../../../workflows/migration-scheduler/views.ts';

const at = '2026-01-01T00:00:00.000Z';
const in30s = '2026-01-01T00:00:30.000Z';
const limits = { perCluster: 3, outboundPerNode: 2 };
const ref = (holder: string) => ({ namespace: 'default', name: holder, uid: holder });
const asks = (holder: string, sourceNode = 'n1', priority = 0): SchedulerEvent => ({
  type: 'requested',
  request: { holder, migration: ref(holder), sourceNode, priority },
});
const returns = (holder: string): SchedulerEvent => ({ type: 'returned', holder });
const holderOf = (holder: string, change: Partial<PermitHolder> = {}): PermitHolder => ({
  ...{ holder, migration: ref(holder), sourceNode: 'n1', over: false, ...change },
});
const found = (...holders: PermitHolder[]): SchedulerEvent => ({ type: 'observed', all: true, limits, holders });
const looked = (...holders: PermitHolder[]): SchedulerEvent => ({ type: 'observed', all: false, limits, holders });

interface Run {
  state: SchedulerState;
  commands: SchedulerCommand[];
}
const after = (...events: SchedulerEvent[]): Run =>
  events.reduce<Run>(({ state }, event) => decide(state, event, at), { state: initialState(), commands: [] });
const granted = ({ commands }: Run): string[] =>
  commands.flatMap((command) => (command.type === 'grant' ? [command.holder] : []));
const holding = ({ state }: Run): string[] => state.holding.map(({ holder }) => holder);
const waiting = ({ state }: Run): string[] => state.waiting.map(({ holder }) => holder);

describe('without history', () => {
  test('it looks at who migrates before it grants anything', () => {
    const run = after(asks('a'));
    expect(run.commands).toEqual([{ type: 'observe' }]);
    expect(granted(after(asks('a'), asks('b')))).toEqual([]);
    expect(granted(after(asks('a'), found()))).toEqual(['a']);
  });
  test('what it finds counts, and is not handed out a second time', () => {
    const run = after(asks('c'), found(holderOf('a'), holderOf('b')));
    expect([granted(run), holding(run), waiting(run)]).toEqual([[], ['a', 'b'], ['c']]);
  });
  test('who waits and holds one already gets it again', () => {
    const run = after(asks('a'), found(holderOf('a')));
    expect([granted(run), holding(run), waiting(run)]).toEqual([['a'], ['a'], []]);
  });
  test('what came back meanwhile stays back', () => {
    expect(holding(after(asks('x', 'n9'), returns('a'), found(holderOf('a'))))).toEqual(['x']);
  });
  test('what is over does not count', () => {
    expect(holding(after(asks('x', 'n9'), found(holderOf('a', { over: true }))))).toEqual(['x']);
  });
});

const begun = [asks('z', 'n9'), found(), returns('z')];

describe('who may migrate', () => {
  test('as many as leave a node', () => {
    const run = after(...begun, asks('a'), asks('b'), asks('c'));
    expect([holding(run), waiting(run)]).toEqual([['a', 'b'], ['c']]);
  });
  test('as many as the cluster takes', () => {
    const run = after(...begun, asks('a'), asks('b', 'n2'), asks('c', 'n3'), asks('d', 'n4'));
    expect([holding(run), waiting(run)]).toEqual([['a', 'b', 'c'], ['d']]);
  });
  test('somebody whose node is busy lets others pass', () => {
    const run = after(...begun, asks('a'), asks('b'), asks('c'), asks('d', 'n2'));
    expect([granted(run), waiting(run)]).toEqual([['d'], ['c']]);
  });
  test('first come, first served', () => {
    const run = after(...begun, asks('a'), asks('b'), asks('c'), asks('d'), returns('b'));
    expect([granted(run), waiting(run)]).toEqual([['c'], ['d']]);
  });
  test('a higher priority goes first', () => {
    const run = after(...begun, asks('a'), asks('b'), asks('c'), asks('d', 'n1', 100), returns('a'));
    expect([granted(run), waiting(run)]).toEqual([['d'], ['c']]);
  });
  test('asking again keeps the place', () => {
    expect(waiting(after(...begun, asks('a'), asks('b'), asks('c'), asks('d'), asks('c')))).toEqual(['c', 'd']);
  });
  test('whoever holds one and asks again has not heard', () => {
    expect(granted(after(...begun, asks('a'), asks('a')))).toEqual(['a']);
  });
  test('somebody who waits can go away', () => {
    expect(waiting(after(...begun, asks('a'), asks('b'), asks('c'), returns('c')))).toEqual([]);
  });
});

describe('holders that may have vanished', () => {
  const crowded = [...begun, asks('a'), asks('b'), asks('c')];
  test('are looked at every 30 s while anybody waits', () => {
    const { state } = after(...crowded);
    expect(state.wakeAt).toBe(in30s);
    const run = decide(state, { type: 'timerFired' }, in30s);
    expect(run.commands).toEqual([{ type: 'observe', holders: ['a', 'b'] }]);
    expect(run.state.wakeAt).toBe('2026-01-01T00:01:00.000Z');
  });
  test('with nobody waiting there is no timer', () => {
    expect(after(...begun, asks('a')).state.wakeAt).toBeUndefined();
    expect(after(...crowded, returns('c')).state.wakeAt).toBeUndefined();
  });
  test('give their permit back only when their job is proven over', () => {
    expect(granted(after(...crowded, looked(holderOf('a'), holderOf('b'))))).toEqual([]);
    expect(granted(after(...crowded, looked(holderOf('a', { over: true }), holderOf('b'))))).toEqual(['c']);
  });
  test('whom no grant reaches is looked at', () => {
    expect(after(...begun, asks('a'), { type: 'holderGone', holder: 'a' }).commands).toEqual([
      { type: 'observe', holders: ['a'] },
    ]);
  });
});

test('changed limits are read, and hold at once', () => {
  const crowded = [...begun, asks('a'), asks('b'), asks('c')];
  expect(after(...crowded, { type: 'limitsChanged' }).commands).toEqual([{ type: 'observe', holders: [] }]);
  const more: SchedulerEvent = { type: 'observed', all: false, limits: { ...limits, outboundPerNode: 3 }, holders: [] };
  expect(granted(after(...crowded, more))).toEqual(['c']);
});

test('the status says what each waits for', () => {
  const { state } = after(...begun, asks('a'), asks('b'), asks('c'), asks('d', 'n2'), asks('e', 'n3', 5));
  expect(statusOf(state).waiting.map(({ holder, why }) => `${holder}: ${why}`)).toEqual([
    'e: 3 migrations are under way, 3 may be',
    'c: 3 migrations are under way, 3 may be',
  ]);
  expect(statusOf(after(...begun, asks('a'), asks('b'), asks('c')).state).waiting[0]?.why).toBe(
    '2 migrations leave node n1, 2 may',
  );
});

test('one of 1,500 that wait is woken in far less than a second', () => {
  const crowd = Array.from({ length: 1500 }, (_, n) => asks(`m${n}`, `n${n % 300}`, n % 3));
  const { state } = after(...begun, ...crowd);
  expect(state.waiting).toHaveLength(1497);
  // The machine may be busy with something else for a while, but not each time.
  const took = [1, 2, 3, 4, 5].map(() => {
    const began = performance.now();
    expect(granted(decide(state, returns(state.holding[0]?.holder ?? ''), at))).toHaveLength(1);
    return performance.now() - began;
  });
  expect(Math.min(...took)).toBeLessThan(100);
});

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const anyRequest: fc.Arbitrary<PermitRequest> = fc
  .record({
    holder: fc.constantFrom(...NAMES),
    sourceNode: fc.constantFrom('n1', 'n2'),
    priority: fc.constantFrom(0, 50),
  })
  .map((request) => ({ ...request, migration: ref(request.holder) }));
const anyEvent: fc.Arbitrary<SchedulerEvent> = fc.oneof(
  anyRequest.map((request): SchedulerEvent => ({ type: 'requested', request })),
  anyRequest.map((request): SchedulerEvent => ({ type: 'requested', request })),
  fc.constantFrom(...NAMES).map(returns),
  fc.constant<SchedulerEvent>({ type: 'limitsChanged' }),
  fc.constantFrom(...NAMES).map((holder): SchedulerEvent => ({ type: 'holderGone', holder })),
  fc.constantFrom(...NAMES).map((holder) => looked(holderOf(holder, { over: true }))),
  fc.constant<SchedulerEvent>({ type: 'timerFired' }),
);

test('limits hold, nobody holds and waits, and nobody waits in vain, whatever happens', () =>
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      for (let n = 1; n <= events.length; n += 1) {
        const run = after(asks('z', 'n9'), found(), returns('z'), ...events.slice(0, n));
        const { state } = run;
        expect(state.holding.length).toBeLessThanOrEqual(limits.perCluster);
        for (const node of ['n1', 'n2']) {
          const outbound = state.holding.filter(({ sourceNode }) => sourceNode === node).length;
          expect(outbound).toBeLessThanOrEqual(limits.outboundPerNode);
          const couldGo = state.waiting.some(({ sourceNode }) => sourceNode === node);
          if (couldGo && state.holding.length < limits.perCluster) expect(outbound).toBe(limits.outboundPerNode);
        }
        expect(waiting(run).filter((holder) => holding(run).includes(holder))).toEqual([]);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }
    }),
    { numRuns: 60 },
  ));
