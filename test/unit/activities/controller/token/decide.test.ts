import { expect, test } from '@jest/globals';
import type { PodFacts } from '../../../../../api/contract/facts.ts';
import type { Acquisition, PodEvidence } from '../../../../../activities/controller/token/decide.ts';
import { decideAcquire, rivals } from '../../../../../activities/controller/token/decide.ts';
import type { Token } from '../../../../../activities/facts/token.ts';

const facts = (more: Partial<PodFacts>): PodFacts => ({
  name: 'p',
  uid: 'pu',
  resourceVersion: '1',
  createdBy: 'old',
  phase: 'Running',
  deleting: false,
  computeReady: true,
  provenEnded: false,
  ...more,
});
const held = (vmiUid: string, attempt: number, bound = true): Token => ({
  epoch: 5,
  holder: { vmiUid, attempt, ...(bound ? { pod: { name: 'p', uid: 'pu', node: 'node-a' } } : {}) },
});
/** As `held('old', 1)`, while migration m moves it to Pod t on node-b. */
const moving = (vmiUid: string, attempt: number): Token => ({
  ...held(vmiUid, attempt),
  moving: { migration: { name: 'm', uid: 'mu' }, pod: { name: 't', uid: 'tu', node: 'node-b' } },
});
const runs: PodEvidence = { pod: facts({}), fenced: false };
const ended: PodEvidence = { pod: facts({ phase: 'Failed', provenEnded: true }), fenced: false };
const gone: PodEvidence = { pod: 'gone', fenced: false };
const fenced: PodEvidence = { pod: 'gone', fenced: true };

test.each<[string, Token | undefined, number, PodEvidence | undefined, string]>([
  ['there is no token', undefined, 1, undefined, 'take 1'],
  ['it is free', { epoch: 5 }, 1, undefined, 'take 6'],
  ['this attempt has it', held('me', 1), 1, runs, 'held'],
  ['this attempt has it, its Pod ended', held('me', 1), 1, ended, 'held'],
  ['an older attempt has it and its Pod runs', held('me', 1), 2, runs, 'TokenHeld'],
  ['an older attempt has it and its Pod ended', held('me', 1), 2, ended, 'take 6'],
  ['an older attempt never bound a Pod', held('me', 1, false), 2, undefined, 'take 6'],
  ['a newer attempt has it', held('me', 3), 2, ended, 'StaleToken'],
  ['another VMI has it and its Pod runs', held('old', 1), 1, runs, 'TokenHeld'],
  ['another VMI has it and its Pod ended', held('old', 1), 1, ended, 'take 6'],
  ['another VMI has it and its Pod is merely gone', held('old', 1), 1, gone, 'TokenHeld'],
  ['another VMI has it and its node is fenced', held('old', 1), 1, fenced, 'take 6'],
  ['another VMI has it and nothing is known', held('old', 1), 1, undefined, 'TokenHeld'],
  ['another VMI never bound a Pod', held('old', 1, false), 1, undefined, 'take 6'],
])('%s', (_, token, attempt, evidence, then) => {
  const known = evidence === undefined ? {} : { holder: evidence };
  expect(said(decideAcquire(token, { vmiUid: 'me', attempt }, known))).toBe(then);
});

const said = (decision: Acquisition): string => {
  if (decision.kind === 'take') return `take ${decision.token.epoch}`;
  return decision.kind === 'refused' ? decision.type : decision.kind;
};

test.each<[string, Token, PodEvidence | undefined, PodEvidence | undefined, string]>([
  ['both run', moving('old', 1), runs, runs, 'TokenHeld'],
  ['the source ended', moving('old', 1), ended, runs, 'TokenHeld'],
  ['the source ended, the target is merely gone', moving('old', 1), ended, gone, 'TokenHeld'],
  ['the source ended, of the target nothing is known', moving('old', 1), ended, undefined, 'TokenHeld'],
  ['the target ended', moving('old', 1), runs, ended, 'TokenHeld'],
  ['both are merely gone', moving('old', 1), gone, gone, 'TokenHeld'],
  ['both ended', moving('old', 1), ended, ended, 'take 6'],
  ['source fenced, target ended', moving('old', 1), fenced, ended, 'take 6'],
  ['source ended, target fenced', moving('old', 1), ended, fenced, 'take 6'],
  ['of this attempt, both run', moving('me', 1), runs, runs, 'TokenHeld'],
  ['of this attempt, both ended', moving('me', 1), ended, ended, 'take 6'],
])('a token that a migration moves: %s', (_, token, holder, target, then) => {
  const evidence = {
    ...(holder === undefined ? {} : { holder }),
    ...(target === undefined ? {} : { moving: target }),
  };
  expect(said(decideAcquire(token, { vmiUid: 'me', attempt: 1 }, evidence))).toBe(then);
});

test('a token that was moving is taken without the move, and the settled migration stays barred', () => {
  const token = { ...moving('old', 1), settled: 'earlier' };
  expect(decideAcquire(token, { vmiUid: 'me', attempt: 1 }, { holder: ended, moving: ended })).toEqual({
    kind: 'take',
    token: { epoch: 6, holder: { vmiUid: 'me', attempt: 1 }, settled: 'earlier' },
  });
});

test('a refusal names the Pod that is in the way, and its node', () => {
  const decision = decideAcquire(moving('old', 1), { vmiUid: 'me', attempt: 1 }, { holder: ended, moving: gone });
  expect(decision).toMatchObject({
    node: 'node-b',
    why: expect.stringMatching(/migration m \(mu\) .* Pod t \(tu\) on node node-b, which is gone/),
  });
});

test('a refusal says who holds the token and where', () => {
  const decision = decideAcquire(held('old', 1), { vmiUid: 'me', attempt: 1 }, { holder: gone });
  expect(decision).toMatchObject({
    why: expect.stringMatching(/VMI old .* Pod p \(pu\) on node node-a, which is gone/),
  });
});

test('rivals: scheduled Pods that are not ours and not proven ended', () => {
  const pods = [
    facts({ name: 'ours', createdBy: 'me', node: 'node-a' }),
    facts({ name: 'unscheduled' }),
    facts({ name: 'ended', node: 'node-a', provenEnded: true }),
    facts({ name: 'runs', node: 'node-a' }),
    facts({ name: 'lost', node: 'node-a', phase: 'Failed' }),
  ];
  expect(rivals(pods, ({ createdBy }) => createdBy === 'me').map(({ name }) => name)).toEqual(['runs', 'lost']);
});
