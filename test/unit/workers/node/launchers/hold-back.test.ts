import { expect, test } from '@jest/globals';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import { holdBack } from '../../../../../workers/node/launchers/hold-back.ts';
import { until } from '../../../../support/until.ts';

const report = (n: number, state: DomainReport['state'], more: Partial<DomainReport> = {}): DomainReport => ({
  ...{ vmi: { namespace: 'n', name: 'v', uid: 'i1' }, podUid: 'p1', node: 'n1', sequence: { epoch: 1, n } },
  ...{ at: '2026-01-01T00:00:00Z', state, agent: { connected: false }, ...more },
});

const held = (answer?: Promise<DomainReport | undefined>, waitMs = 20) => {
  const told: string[] = [];
  const take = holdBack({ offer: ({ state }) => void told.push(state), answer: () => answer, waitMs });
  return { told, take };
};

test('that the guest runs is not told to who is answered that', async () => {
  const answer = Promise.resolve(report(2, 'running'));
  const { told, take } = held(answer);
  take(report(2, 'running'));
  await answer;
  take(report(3, 'crashed', { end: 'crashed' }));
  expect(told).toEqual(['crashed']);
});

test.each([
  ['nothing is answered', undefined],
  ['the answer is older', report(1, 'starting')],
])('that it runs is told when %s', async (_, answered) => {
  const { told, take } = held(Promise.resolve(answered));
  take(report(2, 'running'));
  await until('it is told', () => told.length === 1);
});

test('that it runs is told at once when nobody waits for that', () => {
  const { told, take } = held();
  take(report(2, 'running'));
  expect(told).toEqual(['running']);
});

test('that there is no domain yet is told after a while, unless one comes', async () => {
  const { told, take } = held();
  take(report(1, 'none'));
  expect(told).toEqual([]);
  await until('it is told', () => told.length === 1);
  take(report(2, 'none'));
  take(report(3, 'running'));
  expect(told).toEqual(['none', 'running']);
});

test('that a domain has ended and is gone is told at once', () => {
  const { told, take } = held();
  take(report(2, 'none', { end: 'crashed' }));
  expect(told).toEqual(['none']);
});

test('how a guest stops is not told to who is answered that', async () => {
  const stopped = report(3, 'shutoff', { end: 'acpiShutdown' });
  const { told, take } = held(Promise.resolve(stopped));
  take(report(2, 'shuttingDown'));
  take(stopped);
  take(report(4, 'none', { end: 'acpiShutdown' }));
  await until('what comes after it is told', () => told.length > 0);
  expect(told).toEqual(['none']);
});
