import { expect, test } from '@jest/globals';
import type { InstanceReport } from '../../../../../api/contract/activities.ts';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import type { Migratability } from '../../../../../api/migratability/index.ts';
import { instancePatch, isPast } from '../../../../../activities/controller/instance/instance-status.ts';

const at = '2026-01-01T00:00:05.500Z';
const vmi = (status: VirtualMachineInstance['status'] = {}): VirtualMachineInstance => ({
  metadata: { namespace: 'n', name: 'v', uid: 'u', labels: { team: 'a' } },
  spec: {
    domain: { devices: { interfaces: [{ name: 'default', masquerade: {}, macAddress: '02:00:00:00:00:01' }] } },
    networks: [{ name: 'default', pod: {} }],
  },
  status,
});
const domain = (state: DomainReport['state']): DomainReport => ({
  vmi: { namespace: 'n', name: 'v', uid: 'u' },
  podUid: 'pu',
  node: 'node-a',
  sequence: { epoch: 1, n: 1 },
  at,
  state,
  agent: {
    connected: true,
    os: { id: 'debian', prettyName: 'Debian 12' },
    interfaces: [
      { name: 'lo', addresses: ['127.0.0.1'] },
      { name: 'eth0', mac: '02:00:00:00:00:01', addresses: ['10.0.2.2'] },
      { name: 'docker0', mac: '02:00:00:00:00:99', addresses: ['172.17.0.1'] },
    ],
  },
});
const report = (more: Partial<InstanceReport> = {}): InstanceReport => ({
  phase: 'Running',
  phaseTimes: [
    { phase: 'Pending', at: '2026-01-01T00:00:00.100Z' },
    { phase: 'Running', at },
  ],
  activePods: { pu: 'node-a' },
  node: 'node-a',
  conditions: [{ type: 'Ready', status: 'True' }],
  domain: domain('running'),
  ...more,
});
const pod: Pod = { metadata: { uid: 'pu' }, status: { podIPs: [{ ip: '10.244.0.5' }], qosClass: 'Burstable' } };
const statusOf = (patch: Record<string, unknown> | undefined) => patch?.['status'] as Record<string, unknown>;

test('a running instance: phase, times, node, label, conditions, guest', () => {
  const patch = instancePatch(vmi(), report(), { pod, now: at });
  expect(patch?.['metadata']).toEqual({ labels: { 'kubevirt.io/nodeName': 'node-a' } });
  expect(statusOf(patch)).toMatchObject({
    phase: 'Running',
    nodeName: 'node-a',
    migrationTransport: 'Unix',
    activePods: { pu: 'node-a' },
    phaseTransitionTimestamps: [
      { phase: 'Pending', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' },
      { phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:05Z' },
    ],
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' }],
    guestOSInfo: { id: 'debian', prettyName: 'Debian 12' },
    qosClass: 'Burstable',
  });
});

const pending = (conditions: InstanceReport['conditions']): InstanceReport => ({
  phase: 'Scheduling',
  phaseTimes: [
    { phase: 'Pending', at },
    { phase: 'Scheduling', at },
  ],
  activePods: {},
  conditions,
});
const notReady = { type: 'Ready', status: 'False', reason: 'PodNotExists' } as const;

test('a start that has just begun is not worth a write', () => {
  expect(instancePatch(vmi({ phase: 'Pending' }), pending([notReady]), { now: at })).toBeUndefined();
});

test('a start that has just begun and is in trouble is', () => {
  const trouble = { type: 'Synchronized', status: 'False', reason: 'FailedPvcNotFound' } as const;
  const patch = instancePatch(vmi({ phase: 'Pending' }), pending([notReady, trouble]), { now: at });
  expect(statusOf(patch)['conditions']).toHaveLength(2);
});

test('without a launcher Pod an instance is Pending, not Scheduling', () => {
  const status = statusOf(instancePatch(vmi(), pending([notReady]), { now: at }));
  expect(status['phase']).toBe('Pending');
  expect(status['phaseTransitionTimestamps']).toHaveLength(1);
});

test('written once, it differs no more', () => {
  const patch = instancePatch(vmi(), report(), { pod, now: at });
  const written = vmi(statusOf(patch));
  written.metadata = { ...written.metadata, labels: { team: 'a', 'kubevirt.io/nodeName': 'node-a' } };
  expect(instancePatch(written, report(), { pod, now: '2026-02-02T00:00:00Z' })).toBeUndefined();
});

test("requests of the front door and other writers' fields are not named", () => {
  const live = vmi({ evacuationNodeName: 'node-a', migrationState: { migrationUid: 'm' } });
  const keys = Object.keys(statusOf(instancePatch(live, report(), { pod, now: at })));
  expect(keys).not.toContain('evacuationNodeName');
  expect(keys).not.toContain('migrationState');
});

test('times that are on the object stay: it may be older than the entity', () => {
  const known = [{ phase: 'Pending', phaseTransitionTimestamp: '2025-12-31T00:00:00Z' }];
  const patch = instancePatch(vmi({ phaseTransitionTimestamps: known }), report(), { pod, now: at });
  expect(statusOf(patch)['phaseTransitionTimestamps']).toEqual([
    ...known,
    { phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:05Z' },
  ]);
});

test('a Pod that no longer holds the domain leaves activePods', () => {
  const patch = instancePatch(vmi({ activePods: { old: 'node-b' } }), report(), { pod, now: at });
  expect(statusOf(patch)['activePods']).toEqual({ old: null, pu: 'node-a' });
});

test('an ended instance keeps what was known of its guest and tells its reason', () => {
  const live = vmi({ phase: 'Running', guestOSInfo: { id: 'debian' } });
  const status = statusOf(
    instancePatch(live, report({ phase: 'Succeeded', reason: 'guest ended: agentShutdown' }), { pod, now: at }),
  );
  expect(status).toMatchObject({ phase: 'Succeeded', reason: 'guest ended: agentShutdown' });
  expect(status).not.toHaveProperty('guestOSInfo');
});

test('a guest whose file systems are frozen says so, until they are thawed', () => {
  const told = (fsFreezeStatus?: 'frozen'): InstanceReport => {
    const running = domain('running');
    return report({ domain: { ...running, agent: { ...running.agent, ...(fsFreezeStatus && { fsFreezeStatus }) } } });
  };
  const status = (live: object, now: InstanceReport) => statusOf(instancePatch(vmi(live), now, { pod, now: at }));
  expect(status({}, told('frozen'))).toMatchObject({ fsFreezeStatus: 'frozen' });
  expect(status({ fsFreezeStatus: 'frozen' }, told())).toMatchObject({ fsFreezeStatus: null });
  expect(status({}, told())).not.toHaveProperty('fsFreezeStatus');
});

const assessed: Migratability = {
  live: { type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: 'disk d' },
  storage: { type: 'StorageLiveMigratable', status: 'True' },
  method: 'BlockMigration',
};

test('whether it can be migrated comes with the write that says Running', () => {
  const status = statusOf(instancePatch(vmi(), report(), { pod, migratability: assessed, now: at }));
  expect(status).toMatchObject({
    phase: 'Running',
    migrationMethod: 'BlockMigration',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: 'disk d' },
      { type: 'StorageLiveMigratable', status: 'True' },
    ],
  });
});

test('what was found of it stays until it is looked at again', () => {
  const live = vmi(statusOf(instancePatch(vmi(), report(), { pod, migratability: assessed, now: at })));
  const later = report({ conditions: [{ type: 'Ready', status: 'False' }] });
  const { conditions } = statusOf(instancePatch(live, later, { pod, now: at }));
  expect(conditions).toMatchObject([{ type: 'Ready' }, { type: 'LiveMigratable' }, { type: 'StorageLiveMigratable' }]);
});

test('an unknown outcome of a migration is told, and taken back', () => {
  const unknown = { type: 'MigrationOutcomeUnknown', status: 'True', message: 'node-b does not answer' } as const;
  const told = instancePatch(vmi(), report({ conditions: [unknown] }), { pod, now: at });
  expect(statusOf(told)['conditions']).toMatchObject([unknown]);
  const live = vmi(statusOf(told));
  expect(statusOf(instancePatch(live, report(), { pod, now: at }))['conditions']).toMatchObject([{ type: 'Ready' }]);
});

const hardware = {
  machine: 'pc-q35-7.2',
  memoryBytes: 128 * 2 ** 20,
  disks: { root: { target: 'vda' } },
  selinuxContext: 'none',
};

test('what libvirt made of it: machine, memory, context, names of disks', () => {
  const live = vmi();
  live.spec.volumes = [{ name: 'root', containerDisk: { image: 'x' } }];
  const told = report({ domain: { ...domain('running'), hardware }, launcherImage: 'launcher:1' });
  expect(statusOf(instancePatch(live, told, { pod, now: at }))).toMatchObject({
    machine: { type: 'pc-q35-7.2' },
    memory: { guestCurrent: '128Mi' },
    selinuxContext: 'none',
    volumeStatus: [{ name: 'root', target: 'vda' }],
    launcherContainerImageVersion: 'launcher:1',
  });
});

test('a guest in another launcher than Pods get now is marked, one that moved into such a launcher no longer', () => {
  const marks = (live: VirtualMachineInstance, launcherImage: string, newest = 'launcher:2'): unknown => {
    const patch = instancePatch(live, report({ launcherImage }), { pod, launcherImage: newest, now: at });
    return (patch?.['metadata'] as { labels?: object } | undefined)?.labels;
  };
  expect(marks(vmi(), 'launcher:1')).toMatchObject({ 'kubevirt.io/outdatedLauncherImage': '' });
  expect(marks(vmi(), 'launcher:2')).not.toHaveProperty('kubevirt.io/outdatedLauncherImage');
  const marked = vmi();
  marked.metadata = { ...marked.metadata, labels: { 'kubevirt.io/outdatedLauncherImage': '' } };
  expect(marks(marked, 'launcher:2')).toMatchObject({ 'kubevirt.io/outdatedLauncherImage': null });
  expect(marks(marked, 'launcher:1')).not.toHaveProperty('kubevirt.io/outdatedLauncherImage');
});

test('of an object that has passed no admission its beginnings are told, once', () => {
  const beginnings = { memory: { guestAtBoot: '1Gi', guestRequested: '1Gi' }, runtimeUser: 107 };
  const told = report({ domain: { ...domain('running'), hardware } });
  const first = statusOf(instancePatch(vmi(), told, { pod, beginnings, now: at }));
  expect(first['memory']).toEqual({ guestAtBoot: '1Gi', guestRequested: '1Gi', guestCurrent: '128Mi' });
  const later = statusOf(instancePatch(vmi({ runtimeUser: 0 }), told, { pod, beginnings, now: at }));
  expect(later).not.toHaveProperty('runtimeUser');
});

test('with its Pod come the volumes and interfaces as they are configured', () => {
  const live = vmi({ phase: 'Pending' });
  live.spec.volumes = [{ name: 'root', containerDisk: { image: 'x' } }];
  const { domain: _, ...starting } = report({ phase: 'Scheduling', activePods: { pu: '' } });
  const status = statusOf(instancePatch(live, starting, { now: at }));
  expect(status).toMatchObject({
    volumeStatus: [{ name: 'root', target: '' }],
    interfaces: [{ name: 'default', podInterfaceName: 'eth0' }],
  });
});

test.each([
  ['Running', 'Scheduling', true],
  ['Scheduled', 'Running', false],
  ['Running', 'Running', false],
  ['Succeeded', 'Running', true],
  ['Running', 'Failed', false],
  [undefined, 'Pending', false],
] as const)('of an object in phase %s a report of %s is past: %s', (phase, told, expected) => {
  expect(isPast(vmi(phase === undefined ? {} : { phase }), report({ phase: told }))).toBe(expected);
});
