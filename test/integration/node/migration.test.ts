import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { leaseOf } from '../../../activities/facts/token.ts';
import type { Token } from '../../../activities/facts/token.ts';
import { nodeActivities } from '../../../activities/node/index.ts';
import type { NodePorts } from '../../../activities/node/index.ts';
import { launchersIn } from '../../../activities/node/launcher-client/client.ts';
import type { RunningProxy } from '../../../activities/node/migration-proxy/index.ts';
import { migrationProxy } from '../../../activities/node/migration-proxy/index.ts';
import { processTable } from '../../../activities/node/pods/processes.ts';
import { effectiveConfiguration } from '../../../api/cluster-config/index.ts';
import type { NodeActivities } from '../../../api/contract/activities.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { CarryOut, PrepareTarget } from '../../../api/contract/migrations.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { MigrationOptions, MigrationProgress, MigrationView } from '../../../api/launcher/migration.ts';
import type { LauncherServer } from '../../support/launcher-server.ts';
import { startLauncher } from '../../support/launcher-server.ts';
import type { Authority } from '../../support/peers.ts';
import { authority, credentialsOf, noCredentials } from '../../support/peers.ts';
import type { TestContainer } from '../../support/pod-processes.ts';
import { removePod, startContainer } from '../../support/pod-processes.ts';
import { until } from '../../support/until.ts';

jest.setTimeout(60_000);

/** The activities of two nodes, joined by their real proxies; launchers say what the test wants; an API server that is a map. */
const vmi = { namespace: 'default', name: 'vm', uid: 'vmi-uid' };
const migration = { namespace: 'default', name: 'mig', uid: randomUUID() };
let source: { name: string; uid: string; node: string };
let target: { name: string; uid: string; node: string };

interface Node {
  ports: NodePorts & { proxy: RunningProxy };
  activities: NodeActivities;
  launcher: LauncherServer;
  container: TestContainer;
  beats: unknown[];
  cancel: AbortController;
  over: AbortController;
}

let files: string;
let ca: Authority;
let credentials: Record<string, PeerCredentials>;
let base: string;
let objects: Map<string, object>;
let a: Node;
let b: Node;

beforeAll(async () => {
  files = await mkdtemp('/tmp/c-');
  ca = authority(files, 'ca');
});
afterAll(() => rm(files, { recursive: true }));

const options: MigrationOptions = {
  completionTimeoutPerGiB: 150,
  progressTimeout: 150,
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  unsafe: false,
};
const progress: MigrationProgress = {
  mode: 'PreCopy',
  elapsedMs: 10,
  totalBytes: 100,
  processedBytes: 40,
  remainingBytes: 60,
  iterations: 1,
};
const view = (over: Partial<MigrationView>): { json: string } => {
  const nothing = { role: 'none', domain: 'none', job: false, postCopy: false, resumed: false, finalized: false };
  return { json: JSON.stringify({ migrationUid: migration.uid, ...nothing, ...over }) };
};

const startNode = async (node: string, podUid: string): Promise<Node> => {
  const pods = join(base, node);
  await mkdir(join(pods, podUid), { recursive: true });
  const launchers = launchersIn(pods, node);
  const [over, cancel] = [new AbortController(), new AbortController()];
  const beats: unknown[] = [];
  const log = pino({ level: 'silent' });
  const unused = (): never => {
    throw new Error('not needed here');
  };
  const ports: Node['ports'] = {
    node,
    awaited: new Map(),
    pods,
    kube: {
      get: (kind: string, { name }: { name: string }) => Promise.resolve(objects.get(`${kind}/${name}`)),
    } as unknown as NodePorts['kube'],
    clusterConfig: () => Promise.resolve(effectiveConfiguration({ spec: {} })),
    launchers,
    processes: processTable(),
    network: { ensureMasquerade: unused },
    images: { ensure: unused, evict: unused },
    mounts: { below: () => Promise.resolve([]), bindCached: unused, unmount: unused },
    proxy: migrationProxy({
      pods,
      address: '127.0.0.1',
      port: 0,
      directory: join(base, `${node}-migrations`),
      credentials: credentials[node] ?? noCredentials,
      launchers,
      log,
      signal: over.signal,
    }),
    progress: () => ({ heartbeat: (detail) => void beats.push(detail), cancelled: cancel.signal }),
  };
  const launcher = await startLauncher(pods, podUid);
  const container = await startContainer({ podUid, directory: base, kubelet: { name: 'compute', pods } });
  return { ports, activities: nodeActivities(ports), launcher, container, beats, cancel, over };
};

beforeEach(async () => {
  // Short: a unix socket's path has at most 107 bytes.
  base = await mkdtemp('/tmp/');
  source = { name: 'source', uid: randomUUID().slice(0, 18), node: 'a' };
  target = { name: 'target', uid: randomUUID().slice(0, 18), node: 'b' };
  objects = new Map();
  credentials = { a: credentialsOf(ca.issue({ node: 'a' })), b: credentialsOf(ca.issue({ node: 'b' })) };
  a = await startNode('a', source.uid);
  b = await startNode('b', target.uid);
  await until('both to listen', () => [a, b].every(({ ports }) => ports.proxy.trouble() === undefined));
  describeObjects();
  a.launcher.answer('GetMigration', view({ domain: 'active' }));
  b.launcher.answer('PrepareMigrationTarget', { json: JSON.stringify({ libvirtSocket: '/var/run/libvirt/sock' }) });
  b.launcher.answer('GetMigration', view({ role: 'target' }));
  b.launcher.answer('ResumeMigrated', view({ role: 'target', domain: 'active', resumed: true }));
});

const pod = ({ name, uid, node }: typeof source, { id }: TestContainer, labels: object): Pod => ({
  metadata: { name, namespace: 'default', uid, labels: { 'kubevirt.io/created-by': vmi.uid, ...labels } },
  spec: { nodeName: node, containers: [] },
  status: {
    phase: 'Running',
    containerStatuses: [{ name: 'compute', containerID: `containerd://${id}`, state: { running: {} } }] as never,
  },
});

const token = (over: Partial<Token> = {}): object =>
  leaseOf({ epoch: 3, holder: { vmiUid: vmi.uid, attempt: 1, pod: source }, ...over }, vmi);
const moving = (over: object = {}): object =>
  token({ moving: { migration: { name: migration.name, uid: migration.uid }, pod: target, ...over } });

const describeObjects = (): void => {
  const object: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: vmi,
    spec: {
      domain: { resources: { requests: { memory: '128Mi' } }, devices: { autoattachPodInterface: false } },
    },
  };
  objects.set('VirtualMachineInstance/vm', object);
  objects.set('Pod/source', pod(source, a.container, {}));
  objects.set('Pod/target', pod(target, b.container, { 'kubevirt.io/migrationJobUID': migration.uid }));
  objects.set('Lease/virtflow-vm', token());
};

afterEach(async () => {
  for (const { over, ports, launcher, container } of [a, b]) {
    over.abort();
    await ports.proxy.done;
    launcher.stop();
    await container.kill();
  }
  await removePod(source.uid, base);
  await removePod(target.uid, base);
});

const heard = ({ launcher }: Node): string[] =>
  launcher.received.map(({ method }) => method).filter((method) => method !== 'Handshake');

const prepare = (over: Partial<PrepareTarget> = {}): ReturnType<NodeActivities['prepareMigrationTarget']> =>
  b.activities.prepareMigrationTarget({
    vmi,
    migration,
    pod: target,
    source,
    epoch: 3,
    disks: [{ volume: 'root', size: 1024 }],
    ...over,
  });

/** A migration that is ready to run. */
const carryOut = async (): Promise<CarryOut> => {
  const endpoint = await prepare();
  objects.set('Lease/virtflow-vm', moving());
  return { vmi, migration, pod: source, target, endpoint, epoch: 3, options };
};

const sockets = async (): Promise<string[]> =>
  (await readdir(join(a.ports.pods, source.uid, 'volumes/kubernetes.io~empty-dir/sockets'))).filter((name) =>
    name.startsWith('mig-'),
  );

test('prepareMigrationTarget: the launcher gets all it needs, and the source’s node a way in; twice is as once', async () => {
  const endpoint = await prepare();
  expect(endpoint).toMatchObject({
    node: 'b',
    ...b.ports.proxy.endpoint(),
    sockets: {
      libvirt: '/var/run/libvirt/sock',
      memory: '/var/run/kubevirt/sockets/mig-memory.sock',
      block: '/var/run/kubevirt/sockets/mig-block.sock',
    },
    host: { kvmAvailable: false, domainAttachment: {} },
  });
  const [call] = b.launcher.received.filter(({ method }) => method === 'PrepareMigrationTarget');
  expect(call?.request['vmiUid']).toBe(vmi.uid);
  expect(JSON.parse(String(call?.request['json']))).toMatchObject({
    migrationUid: migration.uid,
    tokenEpoch: 3,
    vmi: { metadata: vmi },
    host: endpoint.host,
    disks: [{ volume: 'root', size: 1024 }],
  });
  expect(await prepare()).toEqual(endpoint);
  objects.set('Lease/virtflow-vm', moving());
  expect(await prepare()).toEqual(endpoint);
  expect(b.ports.proxy.stats().sessions).toEqual({ source: 0, target: 1 });
});

const elsewhere = { name: 'other', uid: 'other-uid', node: 'c' };

test.each<[string, string, () => void]>([
  ['another epoch', 'StaleToken', () => void objects.set('Lease/virtflow-vm', token({ epoch: 4 }))],
  ['no token', 'StaleToken', () => void objects.delete('Lease/virtflow-vm')],
  [
    'a token of another Pod',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', token({ holder: { vmiUid: vmi.uid, attempt: 1, pod: elsewhere } })),
  ],
  [
    'a token that another migration moves',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', moving({ migration: { name: 'x', uid: 'x' } })),
  ],
  [
    'a token that moves to another Pod',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', moving({ pod: elsewhere })),
  ],
  ['a Pod of no migration', 'ObjectGone', () => void objects.set('Pod/target', pod(target, b.container, {}))],
  [
    'a Pod of another migration',
    'ObjectGone',
    () => void objects.set('Pod/target', pod(target, b.container, { 'kubevirt.io/migrationJobUID': 'x' })),
  ],
  ['a Pod that is gone', 'PodFailed', () => void objects.delete('Pod/target')],
  ['a VMI that is gone', 'ObjectGone', () => void objects.delete('VirtualMachineInstance/vm')],
])('prepareMigrationTarget refuses %s as %s; no launcher hears of it and nobody is let in', async (_, type, change) => {
  change();
  await expect(prepare()).rejects.toMatchObject({ type });
  expect(heard(b)).toEqual([]);
  expect(b.ports.proxy.stats().sessions.target).toBe(0);
});

test('a launcher of an older release is said', async () => {
  const handshake = {
    protocol: 1,
    release: '0.1',
    namespace: 'default',
    name: 'vm',
    vmiUid: vmi.uid,
    launcherEpoch: 1,
  };
  b.launcher.answer('Handshake', { ...handshake, podUid: target.uid });
  await expect(prepare()).rejects.toMatchObject({ type: 'LauncherTooOld', message: expect.stringContaining('0.1') });
  await expect(b.activities.inspectMigration({ vmi, migration, pod: target })).rejects.toMatchObject({
    type: 'LauncherTooOld',
  });
});

test('syncInstance refuses a migration’s target, whatever the token says', async () => {
  objects.set('Lease/virtflow-vm', token({ holder: { vmiUid: vmi.uid, attempt: 1, pod: target } }));
  await expect(b.activities.syncInstance({ vmi, pod: target, epoch: 3 })).rejects.toMatchObject({
    type: 'StaleToken',
    message: expect.stringContaining(migration.uid),
  });
  expect(heard(b)).toEqual([]);
});

test('migrateVMI: progress is told, the target resumes as soon as the source is gone, and the final numbers come with the verdict', async () => {
  const request = await carryOut();
  const running = a.activities.migrateVMI(request);
  await until('the migration to begin', () => a.launcher.migrating() === 1);
  expect(await sockets()).toEqual(['mig-block.sock', 'mig-libvirt.sock', 'mig-memory.sock']);
  const [call] = a.launcher.received.filter(({ method }) => method === 'MigrateVMI');
  expect(JSON.parse(String(call?.request['json']))).toEqual({
    migrationUid: migration.uid,
    options,
    targetHost: request.endpoint.host,
  });
  a.launcher.migrationSays({ type: 'progress', progress });
  await until('the heartbeat', () => a.beats.length > 0);
  expect(a.beats).toContainEqual(progress);
  const numbers = { ...progress, downtimeMs: 80 };
  a.launcher.answer('GetMigration', view({ role: 'source', outcome: { kind: 'sourceGone', numbers } }));
  a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceGone', numbers: progress } });
  expect(await running).toEqual({ kind: 'moved', resumedAt: expect.any(String), numbers });
  expect(heard(b).filter((method) => method === 'ResumeMigrated')).toHaveLength(1);

  // The activity again, as after a lost answer: nothing is carried out twice.
  expect(await a.activities.migrateVMI(request)).toMatchObject({ kind: 'moved', numbers });
  expect(heard(a)).not.toContain('CancelMigration');

  await a.activities.closeMigrationSource({ vmi, migration, pod: source });
  await a.activities.closeMigrationSource({ vmi, migration, pod: source });
  expect(await sockets()).toEqual([]);
});

test('while a QEMU is left in the source’s Pod nobody is told to resume', async () => {
  const request = await carryOut();
  const qemu = await startContainer({ podUid: source.uid, directory: base, command: 'qemu-system-x86_64' });
  try {
    a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceGone' } });
    await expect(a.activities.migrateVMI(request)).rejects.toMatchObject({
      type: 'MigrationOutcomeUnknown',
      message: expect.stringContaining(`pid ${qemu.pid}`),
    });
    expect(heard(b)).not.toContain('ResumeMigrated');
  } finally {
    await qemu.kill();
  }
});

test.each(['aborted', 'failed', 'timeout', 'never'] as const)(
  'a source that runs on (%s) is a verdict, not a failure',
  async (cause) => {
    const request = await carryOut();
    a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceActive', cause, message: 'libvirt says so' } });
    expect(await a.activities.migrateVMI(request)).toEqual({ kind: 'stayed', cause, message: 'libvirt says so' });
    expect(heard(b)).not.toContain('ResumeMigrated');
  },
);

test('an outcome that the launcher does not know is not one for us', async () => {
  const request = await carryOut();
  a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'unknown', message: 'libvirt is silent' } });
  await expect(a.activities.migrateVMI(request)).rejects.toMatchObject({
    type: 'MigrationOutcomeUnknown',
    message: expect.stringContaining('libvirt is silent'),
  });
  expect(heard(b)).not.toContain('ResumeMigrated');
});

test.each<[string, () => void]>([
  ['does not move', () => void objects.set('Lease/virtflow-vm', token())],
  ['moves to another Pod', () => void objects.set('Lease/virtflow-vm', moving({ pod: elsewhere }))],
  [
    'is moved by another migration',
    () => void objects.set('Lease/virtflow-vm', moving({ migration: { name: 'x', uid: 'x' } })),
  ],
  [
    'has moved',
    () =>
      void objects.set('Lease/virtflow-vm', token({ epoch: 4, holder: { vmiUid: vmi.uid, attempt: 1, pod: target } })),
  ],
])('migrateVMI refuses a token that %s, and no launcher hears of it', async (_, change) => {
  const request = await carryOut();
  change();
  await expect(a.activities.migrateVMI(request)).rejects.toMatchObject({ type: 'StaleToken' });
  expect(heard(a)).toEqual([]);
});

test('a peer that cannot be spoken to is found before anything begins', async () => {
  const request = await carryOut();
  await b.ports.proxy.close(migration.uid);
  await expect(a.activities.migrateVMI(request)).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(/node b .*no migration/),
  });
  expect(heard(a)).toEqual(['GetMigration']);
  expect(await sockets()).toEqual([]);
});

test('a migration that has begun is attached to, peer or not', async () => {
  const request = await carryOut();
  await b.ports.proxy.close(migration.uid);
  a.launcher.answer('GetMigration', view({ role: 'source', domain: 'active', job: true }));
  a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceActive', cause: 'failed', message: 'cut' } });
  expect(await a.activities.migrateVMI(request)).toMatchObject({ kind: 'stayed', cause: 'failed' });
});

test('a stream that breaks off is taken up again, and so is a launcher that starts again', async () => {
  const request = await carryOut();
  const running = a.activities.migrateVMI(request);
  await until('the migration to begin', () => a.launcher.migrating() === 1);
  a.launcher.breakOff();
  await until('it to be taken up', () => heard(a).filter((method) => method === 'MigrateVMI').length === 2);
  a.launcher.stop();
  a.launcher = await startLauncher(a.ports.pods, source.uid, 2);
  a.launcher.answer(
    'GetMigration',
    view({ role: 'source', outcome: { kind: 'sourceGone', numbers: { ...progress, downtimeMs: 1 } } }),
  );
  a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceGone' } });
  expect(await running).toMatchObject({ kind: 'moved' });
});

test('cancelled, the activity leaves launcher, job and proxy alone', async () => {
  const request = await carryOut();
  const running = a.activities.migrateVMI(request);
  await until('the migration to begin', () => a.launcher.migrating() === 1);
  a.cancel.abort();
  await expect(running).rejects.toMatchObject({ name: 'CancelledFailure' });
  expect(heard(a)).toEqual(['GetMigration', 'MigrateVMI']);
  expect(await sockets()).toHaveLength(3);
});

test('a target’s launcher that is away for a moment still gets the guest', async () => {
  const request = await carryOut();
  const running = a.activities.migrateVMI(request);
  await until('the migration to begin', () => a.launcher.migrating() === 1);
  b.launcher.refuse('ResumeMigrated', status.UNAVAILABLE, 'starting');
  a.launcher.migrationSays({ type: 'ended', outcome: { kind: 'sourceGone' } });
  await until('it to be asked', () => heard(b).filter((method) => method === 'ResumeMigrated').length > 1);
  b.launcher.allow('ResumeMigrated');
  expect(await running).toMatchObject({ kind: 'moved' });
});

test('resumeMigrated: only in the Pod to which the token moves', async () => {
  await carryOut();
  const request = { vmi, migration, pod: target };
  expect(await b.activities.resumeMigrated(request)).toMatchObject({ resumed: true });
  objects.set('Lease/virtflow-vm', token());
  await expect(b.activities.resumeMigrated(request)).rejects.toMatchObject({ type: 'StaleToken' });
  objects.set('Lease/virtflow-vm', moving({ pod: elsewhere }));
  await expect(b.activities.resumeMigrated(request)).rejects.toMatchObject({ type: 'StaleToken' });
  expect(heard(b).filter((method) => method === 'ResumeMigrated')).toHaveLength(1);
});

test('finalizeMigration: the launcher takes the new epoch, and the way in is closed; again after the token moved', async () => {
  await carryOut();
  b.launcher.answer('FinalizeMigration', view({ role: 'target', domain: 'active', resumed: true, finalized: true }));
  const request = { vmi, migration, pod: target, epoch: 4 };
  expect(await b.activities.finalizeMigration(request)).toMatchObject({
    state: 'running',
    podUid: target.uid,
    node: 'b',
  });
  const [call] = b.launcher.received.filter(({ method }) => method === 'FinalizeMigration');
  expect(JSON.parse(String(call?.request['json']))).toEqual({ migrationUid: migration.uid, tokenEpoch: 4 });
  expect(b.ports.proxy.stats().sessions.target).toBe(0);
  objects.set('Lease/virtflow-vm', token({ epoch: 4, holder: { vmiUid: vmi.uid, attempt: 1, pod: target } }));
  expect(await b.activities.finalizeMigration(request)).toMatchObject({ state: 'running' });
});

test('abandonMigrationTarget: nobody comes in any more, and what came in is destroyed', async () => {
  const request = await carryOut();
  b.launcher.answer('AbandonMigrationTarget', view({ role: 'target' }));
  expect(await b.activities.abandonMigrationTarget({ vmi, migration, pod: target })).toMatchObject({ domain: 'none' });
  expect(b.ports.proxy.stats().sessions.target).toBe(0);
  await expect(a.activities.migrateVMI(request)).rejects.toMatchObject({ type: 'PeerUnreachable' });
});

test('abandonMigrationTarget: a guest that was resumed here is not given up', async () => {
  await carryOut();
  b.launcher.refuse('AbandonMigrationTarget', status.FAILED_PRECONDITION, 'the guest was resumed here');
  await expect(b.activities.abandonMigrationTarget({ vmi, migration, pod: target })).rejects.toMatchObject({
    type: 'StillRunning',
    message: expect.stringContaining('resumed here'),
  });
});

test('inspectMigration and cancelMigration reach the launcher, also of a Pod that the API server lost', async () => {
  a.launcher.answer('CancelMigration', view({ role: 'source', domain: 'active' }));
  objects.delete('Pod/source');
  expect(await a.activities.inspectMigration({ vmi, migration, pod: source })).toMatchObject({ domain: 'active' });
  expect(await a.activities.cancelMigration({ vmi, migration, pod: source })).toMatchObject({ role: 'source' });
  a.launcher.stop();
  await expect(a.activities.inspectMigration({ vmi, migration, pod: source })).rejects.toMatchObject({
    type: 'LauncherUnreachable',
  });
});
