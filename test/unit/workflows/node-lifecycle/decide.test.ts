import { expect, test } from '@jest/globals';
import type { DeletedNode, Fence, NodeFacts } from '../../../../api/contract/nodes.ts';
import { decide, standingOf } from '../../../../workflows/node-lifecycle/decide.ts';
import type { NodeEvent, NodeState } from '../../../../workflows/node-lifecycle/state.ts';
import { initialState } from '../../../../workflows/node-lifecycle/state.ts';

const AT = '2026-01-01T00:00:00.000Z';
const node = { name: 'a', uid: 'n1' };
const fence: Fence = { by: 'operator', nodeUid: 'n1', bootId: 'b1' };
const facts = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ node, bootId: 'b1', heartbeat: '2025-12-31T23:59:30Z', silent: false, schedulable: true },
  ...more,
});
const gone = facts({ gone: true, bootId: '', heartbeat: '', silent: true, schedulable: false });
const observed = (more: Partial<NodeFacts> = {}): NodeEvent => ({ type: 'observed', facts: facts(more) });

/** Takes events in, carrying everything out at once; what was commanded, in order. */
const run = (events: NodeEvent[], deleted: DeletedNode = { outcome: 'registered' }, at = AT) => {
  let state: NodeState = initialState(node, at);
  const commanded: string[] = [];
  const queue = [...events];
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    const decision = decide(state, event, at);
    state = decision.state;
    for (const command of decision.commands) {
      commanded.push(command.type === 'settle' ? command.standing : command.type);
      queue.unshift(
        command.type === 'settle'
          ? { type: 'settled', standing: command.standing }
          : { type: 'assessed', found: deleted },
      );
    }
  }
  return { state, commanded };
};

test.each<[string, Partial<NodeFacts>, string]>([
  ['its worker lives and takes VMs', {}, 'serving'],
  ['its worker lives and takes none', { schedulable: false }, 'closed'],
  ['its worker is silent', { silent: true }, 'silent'],
  ['its worker is silent and the label still says that it takes VMs', { silent: true, schedulable: true }, 'silent'],
  ['it is fenced', { silent: true, fence }, 'fenced'],
  ['it is fenced although its worker lives', { fence }, 'fenced'],
  ['it is deleted', { gone: true }, 'deleted'],
  ['it is deleted after it was fenced', { gone: true, fence }, 'deleted'],
])('%s', (_, more, standing) => {
  expect(standingOf(facts(more))).toBe(standing);
});

test.each<[string, NodeEvent[], string[]]>([
  ['a worker that serves', [observed()], ['serving']],
  ['a silent worker is never more than silent', [observed(), observed({ silent: true })], ['serving', 'silent']],
  ['one that comes back', [observed({ silent: true }), observed()], ['silent', 'serving']],
  ['a fence', [observed({ silent: true }), observed({ silent: true, fence })], ['silent', 'fenced']],
  [
    'a fence that is undone',
    [observed({ fence }), observed({ silent: true }), observed()],
    ['fenced', 'silent', 'serving'],
  ],
  [
    'told again, it is carried out again',
    [observed({ silent: true }), observed({ silent: true })],
    ['silent', 'silent'],
  ],
  ['another Node of the name says nothing', [observed({ node: { name: 'a', uid: 'n2' }, fence })], []],
  ['a timer that nobody set', [observed(), { type: 'timerFired' }], ['serving']],
])('%s', (_, events, commanded) => {
  expect(run(events).commanded).toEqual(commanded);
});

test('what comes while something is carried out is carried out afterwards, and only the newest', () => {
  const first = decide(initialState(node, AT), observed({ silent: true }), AT);
  const second = decide(first.state, observed({ silent: true, fence }), AT);
  const third = decide(second.state, observed(), AT);
  expect([...second.commands, ...third.commands]).toEqual([]);
  const then = decide(third.state, { type: 'settled', standing: 'silent' }, AT);
  expect(then.commands).toMatchObject([{ type: 'settle', standing: 'serving' }]);
});

test('a deleted Node whose worker is silent is fenced, for good', () => {
  const deleted: Fence = { by: 'nodeDeleted', nodeUid: 'n1', bootId: 'b1' };
  const { state, commanded } = run([observed(), { type: 'observed', facts: gone }], {
    outcome: 'fenced',
    fence: deleted,
  });
  expect(commanded).toEqual(['serving', 'assessDeleted', 'fenced']);
  expect(state).toMatchObject({ over: true, standing: 'fenced', fence: deleted });
});

test('a deleted Node that has registered again is the business of the new one', () => {
  const { state, commanded } = run([observed(), { type: 'observed', facts: gone }]);
  expect(commanded).toEqual(['serving', 'assessDeleted']);
  expect(state).toMatchObject({ over: true, standing: 'deleted' });
});

test('a deleted Node whose worker lives is looked at again when it has been silent for long enough', () => {
  const { state } = run([observed(), { type: 'observed', facts: gone }], { outcome: 'alive', lastSign: AT });
  expect(state.over).toBeUndefined();
  expect(state.wakeAt).toBe('2026-01-01T00:05:01.000Z');
  expect(decide(state, { type: 'timerFired' }, '2026-01-01T00:05:00.000Z').commands).toEqual([]);
  expect(decide(state, { type: 'timerFired' }, '2026-01-01T00:05:01.000Z').commands).toMatchObject([
    { type: 'assessDeleted', facts: { heartbeat: '2025-12-31T23:59:30Z', bootId: 'b1' } },
  ]);
});

test('a deletion is not taken back by news that are older', () => {
  const { state } = run([{ type: 'observed', facts: gone }, observed()], { outcome: 'alive', lastSign: AT });
  expect(state.facts?.gone).toBe(true);
});

test('what cannot be done is shown and tried again after a minute', () => {
  const failure = { type: 'Forbidden', message: 'no' } as const;
  const begun = decide(initialState(node, AT), observed({ silent: true }), AT);
  const failed = decide(begun.state, { type: 'failed', failure }, AT);
  expect(failed.state).toMatchObject({ failure, wakeAt: '2026-01-01T00:01:00.000Z' });
  const again = decide(failed.state, { type: 'timerFired' }, '2026-01-01T00:01:00.000Z');
  expect(again.commands).toMatchObject([{ type: 'settle', standing: 'silent' }]);
  expect(again.state.failure).toBeUndefined();
});

test('the record of an earlier fence is looked at again until the worker was heard of', () => {
  const begun = decide(initialState(node, AT), observed(), AT);
  const waiting = decide(begun.state, { type: 'settled', standing: 'serving', waits: true }, AT);
  expect(waiting.state.wakeAt).toBe('2026-01-01T00:00:30.000Z');
  const again = decide(waiting.state, { type: 'timerFired' }, '2026-01-01T00:00:30.000Z');
  expect(again.commands).toMatchObject([{ type: 'settle', standing: 'serving' }]);
  const settled = decide(again.state, { type: 'settled', standing: 'serving', waits: false }, AT);
  expect(settled.state.wakeAt).toBeUndefined();
});
