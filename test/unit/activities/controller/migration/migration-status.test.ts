import { expect, test } from '@jest/globals';
import type { MigrationReport } from '../../../../../api/contract/migrations.ts';
import type { VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';
import {
  migrationConditions,
  migrationPatch,
} from '../../../../../activities/controller/migration/migration-status.ts';
import { migration, report } from './reports.ts';

const now = '2026-01-01T00:01:00Z';
const vmim = (status?: object): VirtualMachineInstanceMigration => ({
  metadata: { namespace: 'n', name: 'm', uid: 'm1' },
  spec: { vmiName: 'web' },
  ...(status === undefined ? {} : { status }),
});
const quota = { type: 'QuotaExceeded', message: 'no room' } as const;

test.each<[string, Partial<MigrationReport>, object[]]>([
  ['all goes well', { phase: 'Running' }, []],
  [
    'something stands in the way',
    { phase: 'Scheduling', failure: { type: 'PodNotReady', message: 'no node fits' } },
    [{ type: 'Waiting', status: 'True', reason: 'PodNotReady', message: 'no node fits' }],
  ],
  [
    'a quota stands in the way',
    { phase: 'Scheduling', failure: quota },
    [
      { type: 'Waiting', status: 'True', reason: 'QuotaExceeded', message: 'no room' },
      { type: 'migrationRejectedByResourceQuota', status: 'True', reason: 'QuotaExceeded', message: 'no room' },
    ],
  ],
  [
    'it has failed',
    { phase: 'Failed', failure: quota },
    [{ type: 'Failure', status: 'True', reason: 'QuotaExceeded', message: 'no room' }],
  ],
  [
    'it is being cancelled',
    { phase: 'Running', abort: 'requested' },
    [{ type: 'migrationAbortRequested', status: 'True' }],
  ],
  [
    'nobody can say who has the guest',
    { phase: 'Running', outcomeUnknown: 'neither launcher answers' },
    [{ type: 'MigrationOutcomeUnknown', status: 'True', message: 'neither launcher answers' }],
  ],
])('conditions when %s', (_, more, conditions) => {
  const told = migrationConditions(report(more));
  expect(told).toHaveLength(conditions.length);
  expect(told).toMatchObject(conditions);
});

test('a fresh VMIM gets phase, times and state', () => {
  const phaseTimes = [{ phase: 'Pending' as const, at: '2026-01-01T00:00:01.234Z' }];
  expect(migrationPatch(vmim(), report({ phaseTimes }), now)).toEqual({
    status: {
      phase: 'Pending',
      phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: '2026-01-01T00:00:01Z' }],
      conditions: [],
      migrationState: { migrationUid: migration.uid },
    },
  });
});

test('nothing to write when the object says so already', () => {
  const said = report({ phase: 'Failed', failure: quota, phaseTimes: [{ phase: 'Failed', at: now }] });
  const written = migrationPatch(vmim(), said, now);
  expect(migrationPatch(vmim(written?.['status'] as object), said, '2026-01-01T00:09:00Z')).toBeUndefined();
});

test('times on the object stay, phases that it lacks are added', () => {
  const known = { phase: 'Pending', phaseTransitionTimestamp: '2026-01-01T00:00:01Z' };
  const patch = migrationPatch(
    vmim({ phase: 'Pending', phaseTransitionTimestamps: [known] }),
    report({
      phase: 'Scheduling',
      phaseTimes: [
        { phase: 'Pending', at: '2026-01-01T00:00:30Z' },
        { phase: 'Scheduling', at: '2026-01-01T00:00:31Z' },
      ],
    }),
    now,
  );
  expect(patch).toMatchObject({
    status: {
      phaseTransitionTimestamps: [known, { phase: 'Scheduling', phaseTransitionTimestamp: '2026-01-01T00:00:31Z' }],
    },
  });
});

test('conditions of others stay, our own that no longer hold go', () => {
  const foreign = { type: 'decentralizedMigrationBlocked', status: 'True' };
  const patch = migrationPatch(
    vmim({ conditions: [foreign, { type: 'Waiting', status: 'True', reason: 'PodNotReady' }] }),
    report({ phase: 'Scheduled' }),
    now,
  );
  expect(patch).toMatchObject({ status: { conditions: [foreign] } });
});

test.each(['Running', 'Failed'] as const)('a migration that has succeeded stays so, whoever says %s', (phase) => {
  expect(migrationPatch(vmim({ phase: 'Succeeded' }), report({ phase }), now)).toBeUndefined();
});
