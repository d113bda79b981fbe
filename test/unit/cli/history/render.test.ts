import { expect, test } from '@jest/globals';
import type { OperationView } from '../../../../cli/history/model.ts';
import { renderHistory, renderOperation } from '../../../../cli/history/render.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, 0) + seconds * 1000).toISOString();

const failedStart: OperationView = {
  workflowId: 'vmi-start/u1/2',
  runId: 'r1',
  operation: 'start',
  state: 'failed',
  startedAt: at(0),
  endedAt: at(3),
  link: 'http://ui/vmi-start',
  status: {
    kind: 'start',
    vmi: { namespace: 'n', name: 'web', uid: 'u1' },
    attempt: 2,
    phase: 'Scheduled',
    retryOf: 'vmi-start/u1/1',
    failure: { type: 'ImageContent', message: 'no /boot/vmlinuz in image x' },
    steps: [
      { name: 'CreateLauncherPod', startedAt: at(0), endedAt: at(1), attempts: 1, state: 'undone' },
      {
        name: 'SyncInstance',
        node: 'node-a',
        startedAt: at(1),
        endedAt: at(3),
        attempts: 1,
        state: 'failed',
        failure: { type: 'ImageContent', message: 'no /boot/vmlinuz in image x' },
      },
    ],
  },
};

test('a failed operation shows each step with its node, the reason, what it retries and its page in the Temporal UI', () => {
  const text = renderOperation(failedStart, at(9));
  for (const part of [
    'start failed',
    '3.0 s',
    'SyncInstance',
    'node-a',
    'controller',
    'ImageContent: no /boot/vmlinuz',
    'retries vmi-start/u1/1',
    'http://ui/vmi-start',
  ])
    expect(text).toContain(part);
});

test('a waiting step says why it waits and when it is tried next; its time runs until now', () => {
  const text = renderOperation(
    {
      ...failedStart,
      state: 'running',
      status: {
        kind: 'start',
        vmi: { namespace: 'n', name: 'web', uid: 'u1' },
        attempt: 1,
        phase: 'Pending',
        steps: [
          {
            name: 'CheckVolumes',
            startedAt: at(0),
            attempts: 3,
            state: 'waiting',
            nextTryAt: at(60),
            failure: { type: 'VolumeNotFound', message: 'PVC data' },
          },
        ],
      },
    },
    at(42),
  );
  expect(text).toContain(`VolumeNotFound: PVC data (next try ${at(60)})`);
  expect(text).toContain('42 s');
});

test('an operation that ended without telling its steps says where to look', () => {
  const { status: _, link: __, ...silent } = failedStart;
  expect(renderOperation({ ...silent, state: 'terminated' }, at(9))).toContain('Temporal workflow vmi-start/u1/2');
});

test('a history says how far back it reaches', () => {
  expect(renderHistory({ namespace: 'n', name: 'web', horizonDays: 45, operations: [] }, at(0))).toContain('45 days');
  expect(renderHistory({ namespace: 'n', name: 'web', horizonDays: 45, operations: [failedStart] }, at(0))).toContain(
    '45 days',
  );
});

test('a running operation that cannot be asked is shown as such, not as one that has ended', () => {
  const { status: _, endedAt: __, ...running } = failedStart;
  const silence = 'it cannot be asked: no worker answers';
  const text = renderOperation({ ...running, state: 'running', silence }, at(9));
  expect(text).toContain('start running');
  expect(text).toContain('Its steps are not known: it cannot be asked: no worker answers.');
});

test('a migration shows its way, phases, numbers and reason', () => {
  const migration = {
    ...{ migration: { namespace: 'n', name: 'move-1', uid: 'u' }, phase: 'Failed' as const },
    phaseTimes: [
      { phase: 'Pending' as const, at: at(0) },
      { phase: 'Running' as const, at: at(2) },
      { phase: 'Failed' as const, at: at(5) },
    ],
    source: { name: 'a', uid: 'a', node: 'node-a' },
    target: { name: 'b', uid: 'b', node: 'node-b' },
    numbers: {
      ...{ mode: 'PreCopy' as const, elapsedMs: 1, totalBytes: 1, processedBytes: 2 ** 30 },
      ...{ remainingBytes: 0, iterations: 1, downtimeMs: 85 },
    },
    failure: { type: 'MigrationFailed' as const, message: 'did not converge in time' },
  };
  const text = renderOperation(
    {
      ...{ workflowId: 'migration/n/move-1/u', runId: 'r', operation: 'migrate', state: 'failed' },
      ...{ startedAt: at(0), endedAt: at(6), status: { kind: 'migrate', steps: [], migration } },
    },
    at(9),
  );
  for (const part of [
    'migration failed, node-a → node-b',
    'VirtualMachineInstanceMigration move-1',
    'Running',
    '3.0 s',
    '1.0 GiB in 1 pass, downtime 85 ms, PreCopy',
    'MigrationFailed: did not converge in time',
  ])
    expect(text).toContain(part);
});

test.each([
  ['running', 'Succeeded', /^migration succeeded, removing the source Pod/],
  ['running', 'Failed', /^migration failed, taking back what it had made/],
  ['running', 'Running', /^migration running/],
  ['succeeded', 'Succeeded', /^migration succeeded, .*6\.0 s until the source Pod was gone$/m],
] as const)('a workflow that is %s, of a migration that is %s, is headed so', (state, phase, headline) => {
  const migration = { migration: { namespace: 'n', name: 'm', uid: 'u' }, phase, phaseTimes: [] };
  const text = renderOperation(
    {
      ...{ workflowId: 'migration/n/m/u', runId: 'r', operation: 'migrate', state, startedAt: at(0) },
      ...(state !== 'running' && { endedAt: at(6) }),
      status: { kind: 'migrate', steps: [], migration },
    },
    at(9),
  );
  expect(text).toMatch(headline);
});
