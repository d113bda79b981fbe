import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Freezer } from '../../../../launcher/guest/freezer.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A guest agent with a file system, and what the launcher remembers. */
const guest = (remembered: { thawAt?: number } = {}) => {
  const state = { frozen: remembered.thawAt !== undefined, answers: true, failsToFreeze: false, looked: 0 };
  let now: { thawAt?: number | undefined } = remembered;
  const agent = (execute: string): Promise<unknown> => {
    if (!state.answers) return Promise.reject(new Error('no answer'));
    if (execute === 'guest-fsfreeze-status') return Promise.resolve(state.frozen ? 'frozen' : 'thawed');
    const was = state.frozen;
    state.frozen = execute === 'guest-fsfreeze-freeze';
    if (state.frozen && state.failsToFreeze) return Promise.reject(new Error('one of them would not'));
    return Promise.resolve(was === state.frozen ? 0 : 1);
  };
  const memory = {
    get now() {
      return { epoch: 1, started: true, ...now };
    },
    update: (change: { thawAt?: number | undefined }) => void (now = { ...now, ...change }),
  };
  const log = { warn: () => undefined, info: () => undefined };
  const freezer = new Freezer({ agent, memory, log, lookAgain: () => void state.looked++ });
  return { freezer, state, thawAt: () => now.thawAt };
};

test.each<{ asked: number; seconds: number; then: string }>`
  asked | seconds      | then
  ${0}  | ${299}       | ${'frozen'}
  ${0}  | ${300}       | ${'thawed'}
  ${20} | ${19}        | ${'frozen'}
  ${20} | ${20}        | ${'thawed'}
  ${-1} | ${1_000_000} | ${'frozen'}
`('frozen for $asked s, after $seconds s it is $then', async ({ asked, seconds, then }) => {
  const { freezer, state } = guest();
  expect(await freezer.freeze(asked)).toBe(1);
  await jest.advanceTimersByTimeAsync(seconds * 1000);
  expect(state.frozen ? 'frozen' : 'thawed').toBe(then);
});

test('frozen again, the time begins anew; thawed, it is forgotten', async () => {
  const { freezer, state, thawAt } = guest();
  await freezer.freeze(10);
  await jest.advanceTimersByTimeAsync(9_000);
  expect(await freezer.freeze(10)).toBe(0);
  await jest.advanceTimersByTimeAsync(9_000);
  expect(state.frozen).toBe(true);
  expect(await freezer.thaw()).toBe(1);
  expect(thawAt()).toBeUndefined();
  expect(state.looked).toBe(2);
});

test('an agent that is away when the time is over is asked until it answers', async () => {
  const { freezer, state, thawAt } = guest();
  await freezer.freeze(10);
  state.answers = false;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(thawAt()).toBeDefined();
  state.answers = true;
  await jest.advanceTimersByTimeAsync(5_000);
  expect([state.frozen, thawAt()]).toEqual([false, undefined]);
});

test('what was frozen before the launcher restarted thaws when it was to', async () => {
  const { state } = guest({ thawAt: Date.now() + 5_000 });
  await jest.advanceTimersByTimeAsync(4_000);
  expect(state.frozen).toBe(true);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(state.frozen).toBe(false);
});

test('a freeze that fails is an error, and leaves nothing frozen', async () => {
  const { freezer, state } = guest();
  state.failsToFreeze = true;
  await expect(freezer.freeze(100)).rejects.toThrow('one of them would not');
  await jest.advanceTimersByTimeAsync(1);
  expect(state.frozen).toBe(false);
});
