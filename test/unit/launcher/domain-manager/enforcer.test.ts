import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ShutdownEnforcer } from '../../../../launcher/domain-manager/enforcer.ts';

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

/** A domain that notes when it is signalled and destroyed. */
function domain({ destroyFails = 0 } = {}) {
  const log: [string, number][] = [];
  let active = true;
  let failures = destroyFails;
  const enforcer = new ShutdownEnforcer({
    isActive: () => active,
    signal: () => void log.push(['signal', Date.now()]),
    destroy: () => {
      log.push(['destroy', Date.now()]);
      active = failures-- > 0;
      return Promise.resolve();
    },
    now: () => Date.now(),
  });
  const end = (): void => {
    active = false;
    enforcer.domainChanged();
  };
  return { log, enforcer, end };
}

test('signals at once and every 5 s, destroys exactly at the deadline, then stops', async () => {
  const { log, enforcer } = domain();
  enforcer.enforce(12_000);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(log).toEqual([
    ['signal', 0],
    ['signal', 5_000],
    ['signal', 10_000],
    ['destroy', 12_000],
  ]);
});

test('a domain that ends by itself is neither signalled again nor destroyed', async () => {
  const { log, enforcer, end } = domain();
  enforcer.enforce(30_000);
  await jest.advanceTimersByTimeAsync(6_000);
  end();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(log).toEqual([
    ['signal', 0],
    ['signal', 5_000],
  ]);
});

test('an earlier deadline counts from now on, a later one does not', async () => {
  const { log, enforcer } = domain();
  expect(enforcer.enforce(60_000)).toBe(60_000);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(enforcer.enforce(3_000)).toBe(3_000);
  expect(enforcer.enforce(90_000)).toBe(3_000);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(log).toEqual([
    ['signal', 0],
    ['destroy', 3_000],
  ]);
});

test('a deadline in the past destroys without a signal', async () => {
  const { log, enforcer } = domain();
  enforcer.enforce(-1);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual([['destroy', 0]]);
});

test('destroy is tried again until the domain is gone', async () => {
  const { log, enforcer } = domain({ destroyFails: 3 });
  enforcer.enforce(1_000);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(log.filter(([what]) => what === 'destroy').map(([, at]) => at)).toEqual([1_000, 1_200, 1_400, 1_600]);
});
