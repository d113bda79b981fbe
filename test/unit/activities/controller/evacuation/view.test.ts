import { describe, expect, test } from '@jest/globals';
import { evacuationMigration } from '../../../../../activities/controller/evacuation/create-evacuation.ts';
import { evacuationView } from '../../../../../activities/controller/evacuation/observe-evacuation.ts';
import type { EvictionRules } from '../../../../../activities/facts/evacuation.ts';
import type { Node } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';

const RULES: EvictionRules = { evictionStrategy: 'None', migrations: { nodeDrainTaintKey: 'kubevirt.io/drain' } };
const DRAIN = { taints: [{ key: 'kubevirt.io/drain', effect: 'NoSchedule' }] };
const BORN = '2026-01-01T00:00:00Z';

const node = (spec: Node['spec'] = {}): Node => ({ metadata: { name: 'a', uid: 'na' }, spec });
interface Given {
  strategy?: string;
  status?: object;
  metadata?: object;
  migratable?: string;
}
const vmi = ({ strategy, status, metadata, migratable = 'True' }: Given = {}): VirtualMachineInstance => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'i1', creationTimestamp: BORN, ...metadata },
  spec: { domain: { devices: {} }, ...(strategy === undefined ? {} : { evictionStrategy: strategy }) },
  status: {
    ...{ phase: 'Running', nodeName: 'a', evacuationNodeName: 'a' },
    conditions: [{ type: 'LiveMigratable', status: migratable, reason: 'DisksNotLiveMigratable', message: 'disk d' }],
    ...status,
  },
});
const second = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`;
const vmim = (
  name: string,
  phase: string,
  at: number,
  metadata: object = { annotations: { 'kubevirt.io/evacuationMigration': 'a' } },
): VirtualMachineInstanceMigration => ({
  metadata: { namespace: 'shop', name, uid: name, creationTimestamp: second(at), ...metadata },
  spec: { vmiName: 'web' },
  status: {
    phase,
    phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: second(at + 1) }],
    ...(phase === 'Failed' ? { migrationState: { failureReason: 'no room' } } : {}),
  },
});
const view = (one: VirtualMachineInstance, migrations: VirtualMachineInstanceMigration[] = [], on = node()) =>
  evacuationView(on, [one], migrations, RULES);

describe('who is to leave a node', () => {
  test.each<[string, VirtualMachineInstance, Node, string | undefined]>([
    ['one whose Pod was evicted', vmi({ strategy: 'LiveMigrate' }), node(), 'eviction'],
    [
      'not one that nobody asked',
      vmi({ strategy: 'LiveMigrate', status: { evacuationNodeName: '' } }),
      node(),
      undefined,
    ],
    ['not one that was asked to leave another', vmi({ status: { evacuationNodeName: 'b' } }), node(), undefined],
    ['not one that has left', vmi({ status: { nodeName: 'b' } }), node(), undefined],
    ['not one that has ended', vmi({ status: { phase: 'Failed' } }), node(), undefined],
    ['not one that is being shut down', vmi({ metadata: { deletionTimestamp: BORN } }), node(), undefined],
    [
      'of a tainted node, one that migrates when evicted',
      vmi({ strategy: 'LiveMigrate', status: { evacuationNodeName: undefined } }),
      node(DRAIN),
      'taint',
    ],
    [
      'of a tainted node, not one that does not',
      vmi({ strategy: 'None', status: { evacuationNodeName: undefined } }),
      node(DRAIN),
      undefined,
    ],
    [
      'of a tainted node, not one that would, but cannot',
      vmi({ strategy: 'LiveMigrateIfPossible', migratable: 'False', status: { evacuationNodeName: undefined } }),
      node(DRAIN),
      undefined,
    ],
    [
      'nobody for another taint',
      vmi({ strategy: 'LiveMigrate', status: { evacuationNodeName: undefined } }),
      node({ taints: [{ key: 'kubevirt.io/drain', effect: 'NoExecute' }] }),
      undefined,
    ],
  ])('%s', (_, one, on, by) => {
    expect(view(one, [], on).leaving.map((leaving) => leaving.by)).toEqual(by === undefined ? [] : [by]);
  });
});

describe('why one is not migrated', () => {
  test.each<[string, Given, string | undefined]>([
    ['nothing', { strategy: 'LiveMigrate' }, undefined],
    ['nothing, if possible', { strategy: 'LiveMigrateIfPossible' }, undefined],
    ['the cluster says that evictions do not migrate', {}, 'NotMigratable'],
    ['its disks', { strategy: 'LiveMigrate', migratable: 'False' }, 'NotMigratable'],
    ['nobody knows yet', { strategy: 'LiveMigrate', status: { conditions: [] } }, 'NotMigratable'],
    ['another controller does it', { strategy: 'External' }, 'External'],
    [
      'Pods of an earlier migration',
      { strategy: 'LiveMigrate', status: { activePods: { p: 'a', q: 'b' } } },
      'PodsLeft',
    ],
  ])('%s', (_, given, reason) => {
    expect(view(vmi(given)).leaving[0]?.obstacle?.reason).toBe(reason);
  });

  test('the message says what the condition says', () => {
    const { obstacle } = view(vmi({ strategy: 'LiveMigrate', migratable: 'False' })).leaving[0] ?? {};
    expect(obstacle?.message).toBe('it cannot be migrated: DisksNotLiveMigratable: disk d');
  });
});

const asked = vmi({ strategy: 'LiveMigrate' });

test('a migration that a user has asked for is its way out as well', () => {
  const { leaving } = view(asked, [vmim('users', 'Scheduling', 1, {})]);
  expect(leaving).toMatchObject([{ migration: { name: 'users', phase: 'Scheduling' } }]);
});

describe('failures in a row', () => {
  test.each<[string, VirtualMachineInstanceMigration[], { count: number; name: string } | undefined]>([
    ['none', [], undefined],
    ['two', [vmim('m1', 'Failed', 1), vmim('m2', 'Failed', 3)], { count: 2, name: 'm2' }],
    [
      'since the last success',
      [vmim('m1', 'Failed', 1), vmim('m2', 'Succeeded', 3), vmim('m3', 'Failed', 5)],
      { count: 1, name: 'm3' },
    ],
    ['not those of users', [vmim('m1', 'Failed', 1, {})], undefined],
    [
      'not those that are being cancelled',
      [vmim('m1', 'Failed', 1, { deletionTimestamp: BORN, annotations: { 'kubevirt.io/evacuationMigration': 'a' } })],
      undefined,
    ],
    [
      'not those of an earlier instance',
      [vmim('m1', 'Failed', 1, { creationTimestamp: '2025-12-31T00:00:00Z' })],
      undefined,
    ],
  ])('%s', (_, migrations, failed) => {
    const found = view(asked, migrations).leaving[0]?.failed;
    expect(found === undefined ? undefined : { count: found.count, name: found.name }).toEqual(failed);
  });

  test('are counted from when the last one failed, and say why', () => {
    const { failed } = view(asked, [vmim('m1', 'Failed', 1)]).leaving[0] ?? {};
    expect(failed).toMatchObject({ at: second(2), message: 'no room' });
  });

  test('count from the creation if the time cannot be read', () => {
    const broken = vmim('m1', 'Failed', 1);
    broken.status = {
      phase: 'Failed',
      phaseTransitionTimestamps: [{ phase: 'Failed', phaseTransitionTimestamp: 'soon' }],
    };
    expect(view(asked, [broken]).leaving[0]?.failed?.at).toBe(second(1));
  });
});

describe('migrations that nobody wants any more', () => {
  const stays = vmi({ strategy: 'LiveMigrate', status: { evacuationNodeName: undefined } });
  test.each<[string, VirtualMachineInstance, VirtualMachineInstanceMigration, string[]]>([
    ['one that waits, once its instance may stay', stays, vmim('m1', 'Pending', 1), ['m1']],
    ['one whose target is prepared', stays, vmim('m1', 'TargetReady', 1), ['m1']],
    ['not one that copies the guest', stays, vmim('m1', 'Running', 1), []],
    ['not one that is over', stays, vmim('m1', 'Failed', 1), []],
    ['not one of a user', stays, vmim('m1', 'Pending', 1, {}), []],
    [
      'not one away from another node',
      stays,
      vmim('m1', 'Pending', 1, { annotations: { 'kubevirt.io/evacuationMigration': 'b' } }),
      [],
    ],
    ['not one whose instance is to leave', asked, vmim('m1', 'Pending', 1), []],
    ['not one whose instance has moved', vmi({ status: { nodeName: 'b' } }), vmim('m1', 'Pending', 1), []],
  ])('%s', (_, one, migration, names) => {
    expect(view(one, [migration]).unwanted.map(({ name }) => name)).toEqual(names);
  });
});

describe('the migration out of the node', () => {
  test("is KubeVirt's: annotated with the node, critical, owned by the instance", () => {
    expect(evacuationMigration(asked, { name: 'a', uid: 'na' })).toMatchObject({
      metadata: {
        ...{ namespace: 'shop', name: expect.stringMatching(/^kubevirt-evacuation-[0-9a-f]{12}$/) },
        annotations: { 'kubevirt.io/evacuationMigration': 'a' },
        labels: { 'kubevirt.io/vmi-name': 'web' },
        ownerReferences: [{ kind: 'VirtualMachineInstance', name: 'web', uid: 'i1' }],
      },
      spec: { vmiName: 'web', priority: 'system-critical' },
    });
  });

  test('can wait for others when a descheduler asked for it', () => {
    const one = vmi({ metadata: { annotations: { 'kubevirt.io/eviction-source': 'descheduler' } } });
    expect(evacuationMigration(one, { name: 'a', uid: 'na' }).spec.priority).toBe('system-maintenance');
  });

  test('has the same name when it is created again, and another one after another migration', () => {
    const name = (after?: string) => evacuationMigration(asked, { name: 'a', uid: 'na' }, after).metadata?.name;
    expect(name('m1')).toBe(name('m1'));
    expect(name('m2')).not.toBe(name('m1'));
    expect(name()).not.toBe(name('m1'));
  });
});
