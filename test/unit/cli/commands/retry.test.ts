import { expect, test } from '@jest/globals';
import { whatToRetry } from '../../../../cli/commands/retry.ts';
import { at, migration, running } from '../migration/samples.ts';

const failed = migration('Failed', { createdAt: at(1) });
const failedStart = { id: 'vmi-start/u/1', failure: { type: 'Forbidden' as const, message: 'x' } };

test('the operation under way comes first: its wait is ended', () => {
  expect(whatToRetry({ operation: 'vmi-start/u/2', failedOperation: failedStart }, [failed])).toEqual({
    kind: 'wait',
    operation: 'vmi-start/u/2',
  });
});

test('a migration that waits for its turn is one under way', () => {
  expect(whatToRetry({}, [failed, migration('Pending', { name: 'second' })])).toEqual({
    kind: 'wait',
    operation: 'migration/prod/second/uid-second',
  });
});

test('a failed migration is made again if it is the newest', () => {
  expect(whatToRetry({}, [migration('Succeeded'), failed])).toEqual({ kind: 'migration', failed });
  expect(whatToRetry({}, [failed, migration('Succeeded')])).toEqual({ kind: 'operation' });
});

test('what else failed is tried again by the instance itself', () => {
  expect(whatToRetry({ failedOperation: failedStart }, [])).toEqual({ kind: 'operation' });
  expect(whatToRetry({ failedOperation: failedStart }, [failed])).toEqual({ kind: 'operation' });
  const ofMigration = { ...failedStart, id: 'migration/prod/x/u' };
  expect(whatToRetry({ failedOperation: ofMigration }, [failed])).toEqual({ kind: 'migration', failed });
});

test('a failed migration is over with when something else was done since, though its object is gone', () => {
  const later = { workflowId: 'migration/prod/gone/u', startedAt: at(9) };
  expect(whatToRetry({}, [failed], { newest: later })).toEqual({ kind: 'operation' });
  const moved = running([], { migrationState: { migrationUid: 'u', startTimestamp: at(9) } });
  expect(whatToRetry({}, [failed], { vmi: moved })).toEqual({ kind: 'operation' });
});

test('what was done before a failed migration, or is itself, does not stand in its way', () => {
  const itself = { workflowId: 'migration/prod/kubevirt-migrate-vm-abc/uid-kubevirt-migrate-vm-abc', startedAt: at(2) };
  const before = { workflowId: 'vmi-start/u/1', startedAt: at(-500) };
  const vmi = running([], { migrationState: { migrationUid: 'u', startTimestamp: at(-300) } });
  for (const newest of [itself, before])
    expect(whatToRetry({}, [failed], { newest, vmi })).toEqual({ kind: 'migration', failed });
});
