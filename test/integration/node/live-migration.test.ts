import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { leaseOf } from '../../../activities/facts/token.ts';
import { nodeActivities } from '../../../activities/node/index.ts';
import type { NodePorts } from '../../../activities/node/index.ts';
import { launchersIn } from '../../../activities/node/launcher-client/client.ts';
import type { RunningProxy } from '../../../activities/node/migration-proxy/index.ts';
import { migrationProxy } from '../../../activities/node/migration-proxy/index.ts';
import type { PodProcess } from '../../../activities/node/pods/processes.ts';
import type { NodeActivities } from '../../../api/contract/activities.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { CarryOut } from '../../../api/contract/migrations.ts';
import { migrationSocket } from '../../../api/launcher/migration.ts';
import type { MigrationOptions, PrepareTargetReply } from '../../../api/launcher/migration.ts';
import { podsDirectoryWith } from '../../support/kubelet-pods.ts';
import type { Authority } from '../../support/peers.ts';
import { authority, credentialsOf } from '../../support/peers.ts';
import { testHost, testVmi } from '../../support/test-vmi.ts';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, qemu, startPod, syncRequest } from '../launcher/support.ts';

jest.setTimeout(180_000);

/** A real guest moves between two real launchers, through the real proxies and activities of two nodes. */
const migration = { namespace: 'default', name: 'mig', uid: '5c7d4a7e-3d1c-4c57-9f5e-0d7c4b1f2a30' };
const volumes = [{ name: 'scratch', emptyDisk: { capacity: '16Mi' } }];

type Side = Awaited<ReturnType<typeof startPod>>;

interface Node {
  proxy: RunningProxy;
  activities: NodeActivities;
  cancel: AbortController;
  stop: () => Promise<void>;
}

let files: string;
let ca: Authority;
const nodes: Node[] = [];

beforeAll(async () => {
  files = await mkdtemp('/tmp/c-');
  ca = authority(files, 'ca');
});
afterAll(() => rm(files, { recursive: true }));
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
  await disposeAll();
});

const startNode = async (
  node: string,
  { pod }: Side,
  credentials: PeerCredentials,
  objects: Map<string, object>,
  port = 0,
): Promise<Node> => {
  const pods = await podsDirectoryWith(pod);
  const launchers = launchersIn(pods, node);
  const [over, cancel] = [new AbortController(), new AbortController()];
  const proxy = migrationProxy({
    pods,
    address: '127.0.0.1',
    port,
    directory: join(files, `${node}-migrations`),
    credentials,
    launchers,
    log: pino({ level: 'silent' }),
    signal: over.signal,
  });
  await proxy.reopen();
  const seen = (): PodProcess[] => qemu(pod).map((pid) => ({ pid, startTime: pid, command: 'qemu', cgroup: '' }));
  const ports = {
    node,
    pods,
    kube: { get: (kind: string, { name }: { name: string }) => Promise.resolve(objects.get(`${kind}/${name}`)) },
    launchers,
    processes: { ofPod: () => Promise.resolve(seen()), qemuOf: seen },
    proxy,
    progress: () => ({ heartbeat: () => undefined, cancelled: cancel.signal }),
  } as unknown as NodePorts;
  await until(`${node} to listen`, () => proxy.trouble() === undefined);
  let stopped = false;
  const started: Node = {
    proxy,
    activities: nodeActivities(ports),
    cancel,
    stop: async () => {
      if (stopped) return;
      stopped = true;
      over.abort();
      // As if the process ended: nothing is drained.
      await proxy.close(migration.uid);
      await proxy.done;
      await rm(pods, { recursive: true });
    },
  };
  nodes.push(started);
  return started;
};

interface Ready {
  source: Side;
  target: Side;
  a: Node;
  b: Node;
  request: CarryOut;
  restartA: () => Promise<Node>;
}

/** A guest that runs at home on node a, and a target on node b that is prepared to take it. */
const ready = async (changes: Partial<MigrationOptions> = {}): Promise<Ready> => {
  const source = await startPod();
  const { vmi } = source.pod;
  const target = await startPod({ vmi });
  const watch = source.client.watch();
  await source.client.report('SyncVMI', syncRequest(source.pod, { volumes }));
  await agentConnected(watch.reports);
  watch.stop();

  const pods = {
    source: { name: 'source', uid: source.pod.uid, node: 'a' },
    target: { name: 'target', uid: target.pod.uid, node: 'b' },
  };
  const moving = { migration: { name: migration.name, uid: migration.uid }, pod: pods.target };
  const objects = new Map<string, object>([
    [
      'Lease/virtflow-guest',
      leaseOf({ epoch: 1, holder: { vmiUid: vmi.uid, attempt: 1, pod: pods.source }, moving }, vmi),
    ],
  ]);
  const credentials = { a: credentialsOf(ca.issue({ node: 'a' })), b: credentialsOf(ca.issue({ node: 'b' })) };
  const a = await startNode('a', source, credentials.a, objects);
  const b = await startNode('b', target, credentials.b, objects);

  const { copiedDisks: disks = [] } = await a.activities.inspectMigration({ vmi, migration, pod: pods.source });
  const { libvirtSocket } = await target.client.json<PrepareTargetReply>('PrepareMigrationTarget', {
    migrationUid: migration.uid,
    tokenEpoch: 1,
    vmi: testVmi(vmi, { volumes }),
    host: testHost,
    disks,
  });
  const sockets = { libvirt: libvirtSocket, memory: migrationSocket('memory'), block: migrationSocket('block') };
  await b.proxy.admit({ role: 'target', migrationUid: migration.uid, vmi, pod: pods.target, sourceNode: 'a', sockets });
  const options: MigrationOptions = {
    completionTimeoutPerGiB: 150,
    progressTimeout: 150,
    allowAutoConverge: false,
    allowPostCopy: false,
    allowWorkloadDisruption: false,
    unsafe: false,
    ...changes,
  };
  const endpoint = { node: 'b', ...b.proxy.endpoint(), sockets, host: testHost };
  return {
    source,
    target,
    a,
    b,
    request: { vmi, migration, pod: pods.source, target: pods.target, endpoint, epoch: 1, options },
    restartA: () => startNode('a', source, credentials.a, objects),
  };
};

/** Slow enough to do something meanwhile. */
const SLOW = { bandwidth: 8 * 1024 * 1024 };

const memoryFlows = (node: Node): Promise<unknown> =>
  until('memory to flow', () => node.proxy.stats().channels.memory > 0 && node.proxy.stats().traffic.sent > 4_000_000);

test('a guest moves with its disk, through all channels, and runs in the target alone', async () => {
  const { source, target, a, b, request } = await ready();
  const verdict = await a.activities.migrateVMI(request);
  expect(verdict).toMatchObject({ kind: 'moved', numbers: { downtimeMs: expect.any(Number) } });
  expect(qemu(source.pod)).toEqual([]);
  expect(await target.client.report('GetDomain')).toMatchObject({ state: 'running' });
  // All of the guest went over the network, encrypted, and nothing else.
  expect(b.proxy.stats().traffic.received).toBeGreaterThan(16 * 1024 * 1024);
  expect(await a.activities.migrateVMI(request)).toMatchObject({ kind: 'moved' });
  const finalize = { vmi: request.vmi, migration, pod: request.target, epoch: 2 };
  expect(await b.activities.finalizeMigration(finalize)).toMatchObject({ state: 'running', tokenEpoch: 2 });
  await a.activities.closeMigrationSource({ vmi: request.vmi, migration, pod: request.pod });
  await until('all channels to close', () => Object.values(b.proxy.stats().channels).every((open) => open === 0));
});

test('a link that is cut while memory flows: the source runs on, and what came in is given up', async () => {
  const { source, target, a, b, request } = await ready(SLOW);
  const running = a.activities.migrateVMI(request);
  await memoryFlows(a);
  await b.proxy.close(migration.uid);
  expect(await running).toMatchObject({ kind: 'stayed', cause: 'failed' });
  expect(await source.client.report('GetDomain')).toMatchObject({ state: 'running' });
  const abandon = { vmi: request.vmi, migration, pod: request.target };
  expect(await b.activities.abandonMigrationTarget(abandon)).toMatchObject({ domain: 'none', resumed: false });
  expect(qemu(target.pod)).toEqual([]);
});

test('a source’s node worker that is replaced meanwhile attaches again and tells how it ended', async () => {
  const { source, target, a, request, restartA } = await ready(SLOW);
  const running = a.activities.migrateVMI(request);
  await memoryFlows(a);
  a.cancel.abort();
  await expect(running).rejects.toMatchObject({ name: 'CancelledFailure' });
  await a.stop();
  const next = await restartA();
  const verdict = await next.activities.migrateVMI(request);
  // Its connections died with the first worker, so that the source keeps its guest.
  expect(verdict).toMatchObject({ kind: 'stayed', cause: 'failed' });
  expect(await source.client.report('GetDomain')).toMatchObject({ state: 'running' });
  expect(qemu(target.pod)).toEqual([]);
});

test('a migration that is cancelled ends soon, and the source runs on', async () => {
  const { source, a, request } = await ready(SLOW);
  const running = a.activities.migrateVMI(request);
  await memoryFlows(a);
  await a.activities.cancelMigration({ vmi: request.vmi, migration, pod: request.pod });
  expect(await running).toMatchObject({ kind: 'stayed', cause: 'aborted' });
  expect(await source.client.report('GetDomain')).toMatchObject({ state: 'running' });
});
