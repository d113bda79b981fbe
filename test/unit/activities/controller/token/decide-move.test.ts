import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MoveDecision } from '../../../../../activities/controller/token/decide-move.ts';
import { decideMove, decideRecord, decideStay } from '../../../../../activities/controller/token/decide-move.ts';
import type { Token } from '../../../../../activities/facts/token.ts';

const vmi = { namespace: 'n', name: 'v', uid: 'vu' };
const migration = { namespace: 'n', name: 'm', uid: 'mu' };
const source = { name: 's', uid: 'su', node: 'node-a' };
const target = { name: 't', uid: 'tu', node: 'node-b' };
const epoch = 5;

const atSource: Token = { epoch, holder: { vmiUid: 'vu', attempt: 2, pod: source } };
const moving: Token = { ...atSource, moving: { migration: { name: 'm', uid: 'mu' }, pod: target } };
const atTarget: Token = { epoch: 6, holder: { vmiUid: 'vu', attempt: 2, pod: target }, settled: 'mu' };
const stayed: Token = { ...atSource, settled: 'mu' };
const movingByOther: Token = { ...atSource, moving: { migration: { name: 'o', uid: 'ou' }, pod: target } };
const movingElsewhere: Token = { ...moving, moving: { ...moving.moving!, pod: { ...target, uid: 'older' } } };
const unbound: Token = { epoch, holder: { vmiUid: 'vu', attempt: 2 } };
const ofAnother: Token = { epoch, holder: { vmiUid: 'else', attempt: 1, pod: source } };
const free: Token = { epoch };

const record = (token: Token): MoveDecision => decideRecord(token, { vmi, migration, source, target, epoch });
const stay = (token: Token): MoveDecision => decideStay(token, { vmi, migration, source });
const move = (token: Token): MoveDecision => decideMove(token, { vmi, migration, target });

const outcome = (decision: MoveDecision): Token | string =>
  decision.kind === 'write' ? decision.token : decision.kind;

describe('record that a migration moves the token', () => {
  test.each<[string, Token, Token | string]>([
    ['the source holds it', atSource, moving],
    ['recorded before', moving, 'done'],
    ['another migration moves it', movingByOther, 'stale'],
    ['this migration moves it to another Pod', movingElsewhere, 'stale'],
    ['it was settled: the source kept it', stayed, 'stale'],
    ['an earlier migration was settled', { ...atSource, settled: 'ou' }, { ...moving, settled: 'ou' }],
    ['moved already', atTarget, 'stale'],
    ['another epoch', { ...atSource, epoch: 4 }, 'stale'],
    ['another VMI holds it', ofAnother, 'stale'],
    ['no Pod is bound', unbound, 'stale'],
    ['free', free, 'stale'],
  ])('%s', (_, token, then) => {
    expect(outcome(record(token))).toEqual(then);
  });
});

describe('the source keeps it', () => {
  test.each<[string, Token, Token | string]>([
    ['it moves', moving, stayed],
    ['it does not move (yet): a late record must find another version', atSource, stayed],
    ['told before', stayed, 'done'],
    ['another migration moves it', movingByOther, 'stale'],
    ['moved already', atTarget, 'stale'],
    ['another VMI holds it', ofAnother, 'stale'],
    ['free', free, 'stale'],
  ])('%s', (_, token, then) => {
    expect(outcome(stay(token))).toEqual(then);
  });
});

describe('the target takes it', () => {
  test.each<[string, Token, Token | string]>([
    ['it moves', moving, atTarget],
    ['moved before', atTarget, 'done'],
    ['it moves to another Pod', movingElsewhere, 'stale'],
    ['another migration moves it', movingByOther, 'stale'],
    ['nobody said that it moves', atSource, 'stale'],
    ['the source kept it', stayed, 'stale'],
    ['another VMI holds it', ofAnother, 'stale'],
    ['free', free, 'stale'],
  ])('%s', (_, token, then) => {
    expect(outcome(move(token))).toEqual(then);
  });
});

test('a refusal says how the token is', () => {
  expect(move(stayed)).toEqual({
    kind: 'stale',
    why: 'is at epoch 5 held by VMI vu in Pod s (su), not held by VMI vu in Pod t (tu)',
  });
});

test('whatever is asked in whatever order: the epoch never falls, only a settled move changes it, and no settled migration moves again', () => {
  const requests = fc.array(fc.constantFrom(record, stay, move), { maxLength: 8 });
  fc.assert(
    fc.property(requests, (asked) => {
      let token = atSource;
      for (const ask of asked) {
        const decision = ask(token);
        if (decision.kind !== 'write') continue;
        const next = decision.token;
        expect(next.epoch).toBe(ask === move ? token.epoch + 1 : token.epoch);
        expect(next.holder?.pod?.uid).toBe(ask === move ? 'tu' : token.holder?.pod?.uid);
        if (token.settled === 'mu') expect(next.moving).toBeUndefined();
        token = next;
      }
      for (const ask of [record, stay, move]) {
        const first = ask(token);
        if (first.kind === 'write') expect(ask(first.token).kind).toBe('done');
      }
    }),
  );
});
