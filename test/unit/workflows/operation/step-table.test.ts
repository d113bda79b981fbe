import { expect, test } from '@jest/globals';
import { stepTable } from '../../../../workflows/operation/step-table.ts';

test('an operation reads as a run book: what waits, why, and when it is tried again', () => {
  const text = stepTable({
    ...{ kind: 'start', vmi: { namespace: 'default', name: 'vm-a', uid: 'u' }, attempt: 2, phase: 'Pending' },
    steps: [
      {
        ...{
          name: 'AdmitInstance',
          state: 'done',
          attempts: 1,
          startedAt: '2026-01-01T00:00:00.000Z',
          endedAt: '2026-01-01T00:00:01.500Z',
        },
      },
      {
        ...{ name: 'SyncInstance', node: 'n1', state: 'waiting', attempts: 3, startedAt: '2026-01-01T00:00:02.000Z' },
        ...{
          failure: { type: 'NoWorker', message: 'no worker on\nnode n1 | check' },
          nextTryAt: '2026-01-01T00:01:00.000Z',
        },
      },
    ],
  });
  expect(text.split('\n').slice(-2)).toEqual([
    '| AdmitInstance | controller | ✓ done | 1 | 1.5 s |  |',
    '| SyncInstance | n1 | ⏳ waiting | 3 |  | NoWorker: no worker on node n1 \\| check; next try 2026-01-01T00:01:00.000Z |',
  ]);
});
