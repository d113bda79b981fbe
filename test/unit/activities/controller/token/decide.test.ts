import { expect, test } from '@jest/globals';
import type { PodFacts } from '../../../../../api/contract/facts.ts';
import type { HolderEvidence } from '../../../../../activities/controller/token/decide.ts';
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
const runs: HolderEvidence = { pod: facts({}), fenced: false };
const ended: HolderEvidence = { pod: facts({ phase: 'Failed', provenEnded: true }), fenced: false };
const gone: HolderEvidence = { pod: 'gone', fenced: false };
const fenced: HolderEvidence = { pod: 'gone', fenced: true };

test.each<[string, Token | undefined, number, HolderEvidence | undefined, string]>([
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
  const decision = decideAcquire(token, { vmiUid: 'me', attempt }, evidence);
  const said =
    decision.kind === 'take'
      ? `take ${decision.token.epoch}`
      : decision.kind === 'refused'
        ? decision.type
        : decision.kind;
  expect(said).toBe(then);
});

test('a refusal says who holds the token and where', () => {
  const decision = decideAcquire(held('old', 1), { vmiUid: 'me', attempt: 1 }, gone);
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
