import { expect, test } from '@jest/globals';
import { whatToRetry } from '../../../../cli/commands/retry.ts';
import { at, migration } from '../migration/samples.ts';

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
