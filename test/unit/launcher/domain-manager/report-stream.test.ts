import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DomainReport } from '../../../../api/launcher/reports.ts';
import { ReportStream } from '../../../../launcher/domain-manager/report-stream.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'vf-reports-'));
});
afterEach(() => {
  jest.useRealTimers();
  rmSync(directory, { recursive: true });
});

const stream = (): ReportStream =>
  new ReportStream({ vmi: { namespace: 'ns', name: 'vm', uid: 'u' }, podUid: 'p', epoch: 3, directory });
const agent = { connected: false };
const numbers = (reports: DomainReport[]): number[] => reports.map(({ sequence }) => sequence.n);

test('only changes are reports; each has the next number, and the latest is on disk', () => {
  const reports = stream();
  reports.publish({ state: 'running', agent });
  reports.publish({ state: 'running', agent: { connected: false } });
  reports.publish({ state: 'running', agent: { connected: true } });
  expect(reports.latest.sequence).toEqual({ epoch: 3, n: 2 });
  expect(JSON.parse(readFileSync(join(directory, 'last-report.json'), 'utf8'))).toEqual(reports.latest);
});

test('a reader gets the latest first, then what follows, until it leaves', () => {
  const reports = stream();
  const got: DomainReport[] = [];
  reports.publish({ state: 'starting', agent });
  const leave = reports.watch((report) => got.push(report));
  reports.publish({ state: 'running', agent });
  leave();
  reports.publish({ state: 'paused', agent });
  expect(numbers(got)).toEqual([1, 2]);
});

test('a reader that resumes gets only what is newer; one of another epoch gets the latest', () => {
  const reports = stream();
  reports.publish({ state: 'running', agent });
  const seen: number[][] = [
    { epoch: 3, n: 1 },
    { epoch: 3, n: 0 },
    { epoch: 2, n: 99 },
  ].map((after) => {
    const got: DomainReport[] = [];
    reports.watch((report) => got.push(report), after)();
    return numbers(got);
  });
  expect(seen).toEqual([[], [1], [1]]);
});

test('the latest report counts as received once a reader has it or resumes after it', async () => {
  const reports = stream();
  reports.publish({ state: 'running', agent });
  const received = reports.latestReceived(60_000);
  reports.received({ epoch: 3, n: 0 });
  reports.received({ epoch: 2, n: 5 });
  reports.watch(() => undefined, { epoch: 3, n: 1 });
  expect(await received).toBe(true);
  expect(await reports.latestReceived(0)).toBe(true);
});

test('without a reader the wait ends in time', async () => {
  jest.useFakeTimers();
  const reports = stream();
  reports.publish({ state: 'running', agent });
  const received = reports.latestReceived(15_000);
  await jest.advanceTimersByTimeAsync(15_000);
  expect(await received).toBe(false);
});
