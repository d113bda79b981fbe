import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { GuestInfo } from '../../../../api/launcher/reports.ts';
import { AgentPoller } from '../../../../launcher/guest-agent/poller.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function poller(answer: (execute: string) => unknown, quietMs = 0) {
  const reports: GuestInfo[] = [];
  const asked: string[] = [];
  const agent = new AgentPoller({
    command: (execute) => {
      asked.push(execute);
      return Promise.resolve().then(() => answer(execute));
    },
    report: (guest) => void reports.push(guest),
    log: { debug: () => undefined },
    quietMs: () => quietMs,
  });
  return { agent, reports, asked };
}

test('a connected agent is reported at once, then with what it tells', async () => {
  const { agent, reports } = poller((execute) => (execute === 'guest-info' ? { version: '7' } : undefined));
  agent.connectedChanged(true);
  expect(reports).toEqual([{ connected: true }]);
  await jest.advanceTimersByTimeAsync(0);
  expect(reports).toEqual([{ connected: true }, { connected: true, version: '7' }]);
});

test('a guest that is to be left alone is asked nothing until then', async () => {
  const { agent, reports, asked } = poller(() => ({}), 1_000);
  agent.connectedChanged(true);
  expect(reports).toEqual([{ connected: true }]);
  await jest.advanceTimersByTimeAsync(999);
  expect(asked).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(asked).toContain('guest-info');
});

test('rounds come ever more slowly, up to every two minutes, and stop with the connection', async () => {
  const { agent, asked } = poller(() => ({}));
  const rounds = (): number => asked.filter((execute) => execute === 'guest-info').length;
  agent.connectedChanged(true);
  await jest.advanceTimersByTimeAsync(0);
  const seen: number[] = [];
  for (const seconds of [10, 20, 40, 80, 120, 120]) {
    await jest.advanceTimersByTimeAsync(seconds * 1000);
    seen.push(rounds());
  }
  expect(seen).toEqual([2, 3, 4, 5, 6, 7]);
  agent.connectedChanged(false);
  await jest.advanceTimersByTimeAsync(1_000_000);
  expect(rounds()).toBe(7);
});

test('a command that fails leaves the others their say', async () => {
  const { agent, reports } = poller((execute) => {
    if (execute === 'guest-get-host-name') return { 'host-name': 'vm' };
    throw new Error('unresponsive');
  });
  agent.connectedChanged(true);
  await jest.advanceTimersByTimeAsync(0);
  expect(reports.at(-1)).toEqual({ connected: true, hostname: 'vm' });
});

test('an agent that disconnects is reported as such, whatever answers are under way', async () => {
  const { agent, reports } = poller(() => ({ version: '7' }));
  agent.connectedChanged(true);
  agent.connectedChanged(false);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(reports.at(-1)).toEqual({ connected: false });
});

test('of a frozen guest holds what it told before, and a look at once tells that it has thawed', async () => {
  let status = 'thawed';
  const { agent, reports } = poller((execute) => {
    if (execute === 'guest-fsfreeze-status') return status;
    if (status === 'frozen') throw new Error('disabled while frozen');
    return execute === 'guest-get-host-name' ? { 'host-name': 'vm' } : undefined;
  });
  agent.connectedChanged(true);
  await jest.advanceTimersByTimeAsync(0);
  for (const [next, expected] of [
    ['frozen', { connected: true, hostname: 'vm', fsFreezeStatus: 'frozen' }],
    ['thawed', { connected: true, hostname: 'vm' }],
  ] as const) {
    status = next;
    agent.lookAgain();
    await jest.advanceTimersByTimeAsync(0);
    expect(reports.at(-1)).toEqual(expected);
  }
});
