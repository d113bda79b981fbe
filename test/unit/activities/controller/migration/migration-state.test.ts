import { expect, test } from '@jest/globals';
import type { MigrationReport } from '../../../../../api/contract/migrations.ts';
import { migrationState } from '../../../../../activities/controller/migration/migration-state.ts';
import { options, report } from './reports.ts';

test.each<[string, Partial<MigrationReport>, object]>([
  ['nothing has begun', {}, { migrationUid: 'm1' }],
  [
    'both Pods are known',
    {
      source: { name: 'a', uid: 'pa', node: 'node-a' },
      target: { name: 'b', uid: 'pb', node: 'node-b' },
      targetAddress: '10.0.0.2',
    },
    {
      migrationUid: 'm1',
      ...{ sourceNode: 'node-a', sourcePod: 'a', targetNode: 'node-b', targetPod: 'b', targetNodeAddress: '10.0.0.2' },
    },
  ],
  [
    'it runs',
    { phase: 'Running', startedAt: '2026-01-01T00:00:05.700Z', mode: 'PreCopy' },
    { migrationUid: 'm1', startTimestamp: '2026-01-01T00:00:05Z', mode: 'PreCopy' },
  ],
  [
    'the target runs the guest',
    { phase: 'Running', targetRunsSince: '2026-01-01T00:00:09.1Z' },
    { migrationUid: 'm1', targetNodeDomainDetected: true, targetNodeDomainReadyTimestamp: '2026-01-01T00:00:09Z' },
  ],
  [
    'it has succeeded',
    { phase: 'Succeeded', endedAt: '2026-01-01T00:00:09Z' },
    { migrationUid: 'm1', completed: true, endTimestamp: '2026-01-01T00:00:09Z' },
  ],
  [
    'it has failed',
    { phase: 'Failed', failure: { type: 'MigrationFailed', message: 'it did not converge' } },
    { migrationUid: 'm1', completed: true, failed: true, failureReason: 'it did not converge' },
  ],
  [
    'something stands in the way, which is no failure yet',
    { phase: 'Scheduling', failure: { type: 'PodNotReady', message: 'unschedulable' } },
    { migrationUid: 'm1' },
  ],
  [
    'a cancellation is asked for',
    { abort: 'requested' },
    { migrationUid: 'm1', abortRequested: true, abortStatus: 'Aborting' },
  ],
  [
    'a cancellation worked',
    { phase: 'Failed', abort: 'succeeded', failure: { type: 'Cancelled', message: 'deleted' } },
    {
      migrationUid: 'm1',
      ...{ abortRequested: true, abortStatus: 'Succeeded', completed: true, failed: true, failureReason: 'deleted' },
    },
  ],
])('%s', (_, more, state) => {
  expect(migrationState(report(more))).toEqual(state);
});

test.each([
  [{}, { bandwidthPerMigration: '0', allowPostCopy: false, completionTimeoutPerGiB: 150, maxDowntimeMs: 900 }],
  [
    { bandwidth: 64 * 2 ** 20, allowPostCopy: true },
    { bandwidthPerMigration: '64Mi', allowPostCopy: true },
  ],
])('the configuration in force for options with %j', (more, shown) => {
  expect(migrationState(report({ options: { ...options, ...more } })).migrationConfiguration).toMatchObject(shown);
});

test('the policy that settings come from is named', () => {
  expect(migrationState(report({ options: { ...options, policy: 'fast' } })).migrationPolicyName).toBe('fast');
  expect(migrationState(report({ options }))).not.toHaveProperty('migrationPolicyName');
});
