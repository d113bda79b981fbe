import { describe, expect, test } from '@jest/globals';
import type { InstanceReport } from '../../../../../api/contract/activities.ts';
import type { MigrationReport } from '../../../../../api/contract/migrations.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { instancePatch } from '../../../../../activities/controller/instance/instance-status.ts';
import { options, report as migrationReport } from '../migration/reports.ts';

const at = '2026-01-01T00:00:05Z';
const source = { name: 's', uid: 'su', node: 'node-a' };
const target = { name: 't', uid: 'tu', node: 'node-b' };

const vmi = (status: VirtualMachineInstance['status'] = {}, labels = {}): VirtualMachineInstance => ({
  metadata: { namespace: 'n', name: 'v', uid: 'u', labels: { 'kubevirt.io/nodeName': 'node-a', ...labels } },
  spec: { domain: { devices: {} } },
  status: { phase: 'Running', nodeName: 'node-a', ...status },
});
const said = (migration: Partial<MigrationReport> | undefined, node = 'node-a'): InstanceReport => ({
  phase: 'Running',
  phaseTimes: [],
  activePods: { su: 'node-a', tu: 'node-b' },
  node,
  conditions: [],
  ...(migration === undefined ? {} : { migration: migrationReport({ source, target, ...migration }) }),
});
const patchOf = (live: VirtualMachineInstance, report: InstanceReport) => {
  const patch = instancePatch(live, report, { now: at });
  const metadata = patch?.['metadata'] as { labels?: Record<string, string | null> } | undefined;
  const status = (patch?.['status'] ?? {}) as Record<string, unknown>;
  return { labels: metadata?.labels ?? {}, status, migrationState: status['migrationState'] };
};

describe('migrationState', () => {
  test.each<[string, MigrationReport['phase'], boolean]>([
    ['not before a target is there', 'Pending', false],
    ['not before a target is there', 'Scheduling', false],
    ['not before a target is there', 'Scheduled', false],
    ['from the hand-over to the nodes on', 'PreparingTarget', true],
    ['from the hand-over to the nodes on', 'TargetReady', true],
    ['from the hand-over to the nodes on', 'Running', true],
    ['at its end', 'Succeeded', true],
    ['at its end', 'Failed', true],
  ])('%s: %s', (_, phase, shown) => {
    const { migrationState } = patchOf(vmi(), said({ phase }));
    expect(migrationState !== undefined).toBe(shown);
  });

  test('names both ends, times and options', () => {
    const { migrationState } = patchOf(vmi(), said({ phase: 'Running', startedAt: at, options }));
    expect(migrationState).toMatchObject({
      migrationUid: 'm1',
      ...{ sourceNode: 'node-a', sourcePod: 's', targetNode: 'node-b', targetPod: 't', startTimestamp: at },
      migrationConfiguration: { progressTimeout: 150, maxDowntimeMs: 900 },
    });
  });

  test("takes an earlier migration's words away, also those inside", () => {
    const earlier = {
      migrationUid: 'm0',
      ...{
        startTimestamp: at,
        endTimestamp: at,
        completed: true,
        failed: true,
        failureReason: 'x',
        targetNode: 'node-b',
      },
      migrationConfiguration: { progressTimeout: 1, network: 'fast' },
    };
    const { migrationState } = patchOf(vmi({ migrationState: earlier }), said({ phase: 'PreparingTarget', options }));
    expect(migrationState).toMatchObject({
      ...{ migrationUid: 'm1', startTimestamp: null, endTimestamp: null, completed: null, failed: null },
      failureReason: null,
      migrationConfiguration: { progressTimeout: 150, network: null },
    });
    expect(migrationState).not.toHaveProperty('targetNode');
  });

  test('an entity that knows of none leaves what is there', () => {
    const live = vmi({ migrationState: { migrationUid: 'm0' } });
    expect(patchOf(live, said(undefined)).migrationState).toBeUndefined();
  });

  test('written once, it differs no more', () => {
    const report = said({ phase: 'Running', startedAt: at, options });
    const patch = instancePatch(vmi(), report, { now: at });
    const written = vmi(patch?.['status'] as object, (patch?.['metadata'] as { labels: object }).labels);
    expect(instancePatch(written, report, { now: at })).toBeUndefined();
  });
});

describe('labels', () => {
  const LABEL = 'kubevirt.io/migrationTargetNodeName';
  test.each<[string, MigrationReport['phase'] | undefined, object, object]>([
    ['the target node while the guest is on its way', 'Running', {}, { [LABEL]: 'node-b' }],
    ['none before there is a target', 'Scheduling', {}, {}],
    ['gone once it is over', 'Failed', { [LABEL]: 'node-b' }, { [LABEL]: null }],
    ['gone when nobody knows of a migration', undefined, { [LABEL]: 'node-b' }, { [LABEL]: null }],
  ])('%s', (_, phase, before, after) => {
    expect(patchOf(vmi({}, before), said(phase === undefined ? undefined : { phase })).labels).toEqual(after);
  });

  test('node and its label move with the guest', () => {
    const { labels, status } = patchOf(vmi(), said({ phase: 'Succeeded' }, 'node-b'));
    expect(labels).toEqual({ 'kubevirt.io/nodeName': 'node-b' });
    expect(status['nodeName']).toBe('node-b');
  });
});

describe('evacuationNodeName', () => {
  test.each<[string, MigrationReport['phase'], string, string, boolean]>([
    ['the guest has left that node', 'Succeeded', 'node-a', 'node-b', true],
    ['it is still on its way', 'Running', 'node-a', 'node-a', false],
    ['it stayed', 'Failed', 'node-a', 'node-a', false],
    ['the node it came to is to be left since', 'Succeeded', 'node-b', 'node-b', false],
    ['a third node is named', 'Succeeded', 'node-c', 'node-b', false],
  ])('%s', (_, phase, evacuationNodeName, node, cleared) => {
    const { status } = patchOf(vmi({ evacuationNodeName }), said({ phase }, node));
    expect(status['evacuationNodeName'] === null).toBe(cleared);
  });
});
