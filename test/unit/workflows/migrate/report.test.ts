import { expect, test } from '@jest/globals';
import type { MigrationReport } from '../../../../api/contract/migrations.ts';
import { changed, failed, inPhase, isFinal, succeeded } from '../../../../workflows/migrate/report.ts';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:00:05.000Z';
const migration = { namespace: 'default', name: 'mig-1', uid: 'm1' };
const begun: MigrationReport = { migration, phase: 'Pending', phaseTimes: [{ phase: 'Pending', at }] };
const failure = { type: 'PodNotReady', message: 'no room' } as const;

test('phases are kept with their times, each once', () => {
  const report = inPhase(inPhase(begun, 'Scheduling', later), 'Scheduling', later);
  expect(report.phaseTimes).toEqual([
    { phase: 'Pending', at },
    { phase: 'Scheduling', at: later },
  ]);
});

test('what stood in the way is past with the next phase', () => {
  const report = inPhase({ ...begun, failure, outcomeUnknown: 'who knows' }, 'Scheduled', later);
  expect([report.failure, report.outcomeUnknown]).toEqual([undefined, undefined]);
});

test('a member can be taken out', () => {
  expect(changed({ ...begun, failure }, { failure: undefined })).toEqual(begun);
});

test('an end tells when and why, and what became of a cancellation', () => {
  expect(failed({ ...begun, abort: 'requested' }, failure, later)).toMatchObject({
    ...{ phase: 'Failed', endedAt: later, failure, abort: 'succeeded' },
  });
  expect(succeeded({ ...begun, abort: 'requested' }, later)).toMatchObject({
    ...{ phase: 'Succeeded', endedAt: later, abort: 'failed' },
  });
  expect(succeeded(begun, later)).not.toHaveProperty('abort');
});

test('an end stays as it is', () => {
  const over = failed(begun, failure, at);
  expect(isFinal(over)).toBe(true);
  expect(failed(over, { type: 'Unknown', message: 'again' }, later)).toEqual(over);
  expect(inPhase(over, 'Running', later)).toEqual(over);
});
