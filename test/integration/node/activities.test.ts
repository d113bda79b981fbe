import { chown, mkdir, mkdtemp, open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { runCommand } from '../../../activities/node/commands.ts';
import { imageCache } from '../../../activities/node/container-disks/cache.ts';
import { mountsOver } from '../../../activities/node/container-disks/mounts.ts';
import { nodeActivities } from '../../../activities/node/index.ts';
import type { NodePorts } from '../../../activities/node/index.ts';
import { launchersIn } from '../../../activities/node/launcher-client/client.ts';
import type { RunningProxy } from '../../../activities/node/migration-proxy/index.ts';
import { migrationProxy } from '../../../activities/node/migration-proxy/index.ts';
import { podNetwork } from '../../../activities/node/network/setup.ts';
import { processTable } from '../../../activities/node/pods/processes.ts';
import { leaseOf } from '../../../activities/facts/token.ts';
import { effectiveConfiguration } from '../../../api/cluster-config/index.ts';
import type { NodeActivities } from '../../../api/contract/activities.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { KubeVirt, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { sweep } from '../../../workers/node/sweep.ts';
import type { LauncherServer } from '../../support/launcher-server.ts';
import { startLauncher } from '../../support/launcher-server.ts';
import type { Namespace } from '../../support/netns.ts';
import { addNamespace, sh } from '../../support/netns.ts';
import type { TestContainer } from '../../support/pod-processes.ts';
import { noCredentials } from '../../support/peers.ts';
import { removePod, startContainer } from '../../support/pod-processes.ts';
import { until } from '../../support/until.ts';

jest.setTimeout(60_000);

/**
 * A node in miniature: real mounts, cgroups, network namespaces and processes; a Pod of a `compute` container and one that holds an image; an API server
 * that is a map; a launcher that says what the test wants.
 */
const NODE = 'node-a';
const MIB = 1024 * 1024;
const CONTAINER_DISKS = '/var/run/kubevirt/container-disks';
const CLAIM_DIRECTORY = '/var/run/kubevirt-private/vmi-disks/data';

const vmiRef = { namespace: 'default', name: 'vm', uid: 'vmi-uid' };
let podUid: string;
let base: string;
let pods: string;
let claim: string;
let pod: Pod;
let vmi: VirtualMachineInstance;
let objects: Map<string, object>;
let network: Namespace;
let volumes: Record<string, string>;
let compute: TestContainer;
let image: TestContainer;
let launcher: LauncherServer;
let ports: NodePorts & { proxy: RunningProxy };
let over: AbortController;
let beats: unknown[];
let activities: NodeActivities;
let disabledFeatureGates: string[];
let request: Parameters<NodeActivities['syncInstance']>[0];

const running = (name: string, { id }: TestContainer): object => ({
  name,
  containerID: `containerd://${id}`,
  imageID: `sha256:${'a'.repeat(64)}`,
  state: { running: {} },
});

beforeEach(async () => {
  podUid = randomUUID();
  base = await mkdtemp('/tmp/v-');
  // Short: a unix socket's path has at most 107 bytes.
  pods = join(base, 'p');
  claim = join(base, 'claim');
  const disks = join(pods, podUid, 'volumes/kubernetes.io~empty-dir/container-disks');
  for (const directory of [disks, claim, join(pods, podUid, 'volumes/kubernetes.io~empty-dir/state')]) {
    await mkdir(directory, { recursive: true });
  }
  // As on a node: what is mounted below the kubelet's directory reaches the containers.
  sh(`mount --bind ${pods} ${pods} && mount --make-shared ${pods}`);
  network = addNamespace();
  sh(`ip -n ${network.name} link add eth0 mtu 1400 type veth && ip -n ${network.name} link set eth0 up`);
  volumes = { [CONTAINER_DISKS]: disks, [CLAIM_DIRECTORY]: claim };
  compute = await startCompute();
  image = await startImage();
  launcher = await startLauncher(pods, podUid);
  describeObjects();
  const cache = join(base, 'cache');
  beats = [];
  disabledFeatureGates = ['ImageVolume'];
  over = new AbortController();
  const launchers = launchersIn(pods, NODE);
  ports = {
    node: NODE,
    awaited: new Map(),
    pods,
    kube: {
      get: (kind: string, { name }: { name: string }) => Promise.resolve(objects.get(`${kind}/${name}`)),
    } as unknown as NodePorts['kube'],
    clusterConfig: () => {
      const developerConfiguration = { useEmulation: true, disabledFeatureGates };
      return Promise.resolve(
        effectiveConfiguration({ spec: { configuration: { developerConfiguration } } } as KubeVirt),
      );
    },
    launchers,
    processes: processTable(),
    network: podNetwork(runCommand),
    images: imageCache(cache),
    mounts: mountsOver({ run: runCommand, cache, view: join(base, 'view') }),
    proxy: migrationProxy({
      pods,
      address: '127.0.0.1',
      port: 0,
      directory: join(base, 'migrations'),
      credentials: noCredentials,
      launchers,
      log: pino({ level: 'silent' }),
      signal: over.signal,
    }),
    progress: () => ({ heartbeat: (detail) => void beats.push(detail), cancelled: new AbortController().signal }),
  };
  activities = nodeActivities(ports);
});

const startCompute = (): Promise<TestContainer> =>
  startContainer({
    ...{ podUid, directory: base, kubelet: { name: 'compute', pods } },
    ...{ network: network.path, volumes },
  });

const startImage = (): Promise<TestContainer> =>
  startContainer({
    ...{ podUid, directory: base, kubelet: { name: 'volumeroot', pods }, network: network.path },
    files: { '/disk/root.img': Buffer.alloc(MIB, 7) },
  });

const describeObjects = (): void => {
  pod = {
    metadata: { name: 'launcher', namespace: 'default', uid: podUid, labels: { 'kubevirt.io/created-by': vmiRef.uid } },
    spec: { nodeName: NODE, containers: [] },
    status: {
      phase: 'Running',
      containerStatuses: [running('compute', compute), running('volumeroot', image)] as never,
    },
  };
  vmi = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: vmiRef,
    spec: {
      domain: {
        resources: { requests: { memory: '128Mi' } },
        devices: {
          disks: [
            { name: 'root', disk: {} },
            { name: 'data', disk: {} },
          ],
          interfaces: [{ name: 'default', masquerade: {} }],
        },
      },
      networks: [{ name: 'default', pod: {} }],
      volumes: [
        { name: 'root', containerDisk: { image: 'registry/root' } },
        { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      ],
    },
  };
  const holder = { vmiUid: vmiRef.uid, attempt: 1, pod: { name: 'launcher', uid: podUid, node: NODE } };
  objects = new Map<string, object>([
    ['Pod/launcher', pod],
    ['VirtualMachineInstance/vm', vmi],
    ['Lease/virtflow-vm', leaseOf({ epoch: 3, holder }, vmiRef)],
    ['PersistentVolumeClaim/data', { spec: { volumeMode: 'Filesystem' }, status: { capacity: { storage: '32Mi' } } }],
  ]);
  request = { vmi: vmiRef, pod: { name: 'launcher', uid: podUid, node: NODE }, epoch: 3 };
};

afterEach(async () => {
  over.abort();
  await ports.proxy.done;
  launcher.stop();
  for (const container of [compute, image]) await container.kill();
  network.remove();
  const points = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  for (const point of points.filter((path) => path.startsWith(`${base}/`)).reverse()) sh(`umount -l ${point}`);
  await removePod(podUid, base);
});

const syncRequests = (): Record<string, unknown>[] =>
  launcher.received.filter(({ method }) => method === 'SyncVMI').map(({ request: one }) => one);

const inCompute = (path: string): string => `/proc/${compute.pid}/root${path}`;

test('syncInstance: image, volume and network are there for the launcher, which then gets the VMI', async () => {
  expect(await activities.syncInstance(request)).toMatchObject({ state: 'running', node: NODE, podUid });

  const disk = inCompute(`${CONTAINER_DISKS}/root.img`);
  expect((await readFile(disk)).equals(Buffer.alloc(MIB, 7))).toBe(true);
  await expect(open(disk, 'r+')).rejects.toMatchObject({ code: 'EROFS' });
  const data = await stat(join(claim, 'disk.img'));
  expect([data.uid, data.gid, data.size, data.mode & 0o777]).toEqual([107, 107, 32 * MIB, 0o660]);
  expect(network.run('ip -brief link')).toMatch(/k6t-eth0[\s\S]*tap0/);

  const [sync] = syncRequests();
  expect(sync).toMatchObject({ vmiUid: vmiRef.uid, tokenEpoch: 3, paused: false });
  expect(JSON.parse(String(sync?.['vmiJson']))).toMatchObject({ metadata: vmiRef });
  expect(JSON.parse(String(sync?.['hostJson']))).toMatchObject({
    useEmulation: true,
    kvmAvailable: false,
    mtu: 1400,
    backingFormats: { root: 'raw' },
    isBlockVolume: { data: false },
    domainAttachment: { default: 'tap' },
  });
  expect(beats).toEqual(
    expect.arrayContaining([expect.stringContaining('registry/root'), 'network', 'starting the domain']),
  );
});

test('syncInstance twice is as once, and what the guest wrote stays', async () => {
  await activities.syncInstance(request);
  await writeFile(join(claim, 'disk.img'), 'written by the guest');
  await chown(join(claim, 'disk.img'), 0, 0);
  await activities.syncInstance(request);
  expect(await readFile(join(claim, 'disk.img'), 'utf8')).toBe('written by the guest');
  expect((await stat(join(claim, 'disk.img'))).uid).toBe(107);
  expect(syncRequests()).toHaveLength(2);
  const disks = join(pods, podUid, 'volumes/kubernetes.io~empty-dir/container-disks');
  expect(await ports.mounts.below(disks)).toHaveLength(1);
});

test('syncInstance waits for an image whose container starts after the launcher, whatever the API server knows of it', async () => {
  await image.kill();
  pod.status = { phase: 'Pending' };
  const synced = activities.syncInstance(request);
  await until('all else to be ready', () => /tap0/.test(network.run('ip -brief link')));
  expect(syncRequests()).toEqual([]);
  image = await startImage();
  expect(await synced).toMatchObject({ state: 'running' });
  expect((await readFile(inCompute(`${CONTAINER_DISKS}/root.img`))).equals(Buffer.alloc(MIB, 7))).toBe(true);
});

test('syncInstance sets up the network in the sandbox, before any container is there', async () => {
  await Promise.all([image.kill(), compute.kill()]);
  const sandbox = await startContainer({ podUid, directory: base, network: network.path });
  const synced = activities.syncInstance(request);
  await until('the network to be ready', () => /tap0/.test(network.run('ip -brief link')));
  expect(syncRequests()).toEqual([]);
  [compute, image] = [await startCompute(), await startImage()];
  expect(await synced).toMatchObject({ state: 'running' });
  await sandbox.kill();
});

test('syncInstance does not start a guest in a sandbox whose network it has not set up', async () => {
  await Promise.all([image.kill(), compute.kill()]);
  const before = addNamespace();
  sh(`ip -n ${before.name} link add eth0 mtu 1400 type veth && ip -n ${before.name} link set eth0 up`);
  const sandbox = await startContainer({ podUid, directory: base, network: before.path });
  const synced = activities.syncInstance(request);
  await until('the network to be ready', () => /tap0/.test(before.run('ip -brief link')));
  [compute, image] = [await startCompute(), await startImage()];
  await expect(synced).rejects.toMatchObject({ type: 'PodNotReady', message: expect.stringContaining('made anew') });
  expect(syncRequests()).toEqual([]);
  await sandbox.kill();
  expect(await activities.syncInstance(request)).toMatchObject({ state: 'running' });
  expect(network.run('ip -brief link')).toMatch(/tap0/);
  before.remove();
});

test('syncInstance stops waiting for an image when something else cannot work', async () => {
  await image.kill();
  objects.set('PersistentVolumeClaim/data', { spec: {}, status: { capacity: { storage: '1Pi' } } });
  await expect(activities.syncInstance(request)).rejects.toMatchObject({ type: 'VolumeNotReady' });
});

const token = (over: object): object => leaseOf({ epoch: 3, ...over }, vmiRef);
const other = { name: 'launcher', uid: 'other', node: NODE };

test.each<[string, string, () => void]>([
  ['an older epoch', 'StaleToken', () => (request = { ...request, epoch: 2 })],
  ['no token', 'StaleToken', () => void objects.delete('Lease/virtflow-vm')],
  ['a free token', 'StaleToken', () => void objects.set('Lease/virtflow-vm', token({}))],
  [
    'a token without Pod',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', token({ holder: { vmiUid: vmiRef.uid, attempt: 1 } })),
  ],
  [
    'a token of another Pod',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', token({ holder: { vmiUid: vmiRef.uid, attempt: 1, pod: other } })),
  ],
  [
    'a token of another VMI',
    'StaleToken',
    () => void objects.set('Lease/virtflow-vm', token({ holder: { vmiUid: 'x', attempt: 1, pod: request.pod } })),
  ],
  [
    'a token that a migration moves',
    'StaleToken',
    () =>
      void objects.set(
        'Lease/virtflow-vm',
        token({
          holder: { vmiUid: vmiRef.uid, attempt: 1, pod: request.pod },
          moving: { migration: { name: 'm', uid: 'mu' }, pod: other },
        }),
      ),
  ],
  ['a VMI that is gone', 'ObjectGone', () => void objects.delete('VirtualMachineInstance/vm')],
  ['a Pod that is gone', 'PodFailed', () => void objects.delete('Pod/launcher')],
  ['a Pod that has ended', 'PodFailed', () => (pod.status = { phase: 'Failed', reason: 'Evicted' })],
  ['a Pod of another node', 'ObjectGone', () => (pod.spec = { containers: [], nodeName: 'node-b' })],
  ['a Pod of another VMI', 'ObjectGone', () => (pod.metadata = { ...pod.metadata, labels: {} })],
  ['a claim that is gone', 'VolumeNotFound', () => void objects.delete('PersistentVolumeClaim/data')],
  [
    'an image without the file',
    'ImageContent',
    () => (vmi.spec.volumes![0]!.containerDisk = { image: 'registry/root', path: '/disk/none.img' }),
  ],
  ['another binding', 'InvalidSpec', () => (vmi.spec.domain.devices.interfaces = [{ name: 'default', sriov: {} }])],
])('syncInstance refuses %s as %s, and the launcher hears nothing', async (_, type, change) => {
  change();
  await expect(activities.syncInstance(request)).rejects.toMatchObject({ type });
  expect(syncRequests()).toEqual([]);
});

test('an image that refers to another file is refused by field, image and reason', async () => {
  sh(`qemu-img create -q -f qcow2 -b /etc/passwd -F raw ${join(image.root, 'disk', 'root.img')} 1M`);
  await expect(activities.syncInstance(request)).rejects.toMatchObject({
    type: 'ImageContent',
    message: expect.stringMatching(/spec\.volumes\[0\]\.containerDisk: image registry\/root: .*backing file/),
  });
});

test('a link in the image to a file of the host is not followed', async () => {
  await rm(join(image.root, 'disk', 'root.img'));
  sh(`ln -s /etc/passwd ${join(image.root, 'disk', 'root.img')}`);
  await expect(activities.syncInstance(request)).rejects.toMatchObject({ type: 'ImageContent' });
});

test('with the ImageVolume gate the launcher finds the image that the kubelet mounted', async () => {
  disabledFeatureGates = [];
  await mkdir(inCompute('/var/run/kubevirt-image-volume/root/disk'), { recursive: true });
  sh(`qemu-img create -q -f qcow2 ${inCompute('/var/run/kubevirt-image-volume/root/disk/a.qcow2')} 1M`);
  await activities.syncInstance(request);
  await activities.syncInstance(request);
  const link = await readlink(inCompute(`${CONTAINER_DISKS}/root.img`));
  expect(link).toBe('/var/run/kubevirt-image-volume/root/disk/a.qcow2');
  expect(JSON.parse(String(syncRequests()[0]?.['hostJson']))).toMatchObject({ backingFormats: { root: 'qcow2' } });
});

test('a hostDisk is made when it may be, and refused when it must be there', async () => {
  const hostDisk = (type: string): void => {
    vmi.spec.volumes![1] = { name: 'data', hostDisk: { path: '/host/vm/own.img', type, capacity: '8Mi' } };
  };
  hostDisk('Disk');
  await expect(activities.syncInstance(request)).rejects.toMatchObject({
    type: 'InvalidSpec',
    message: expect.stringMatching(/spec\.volumes\[1\]\.hostDisk.*own\.img.*DiskOrCreate/),
  });
  hostDisk('DiskOrCreate');
  await activities.syncInstance(request);
  const { uid, size } = await stat(join(claim, 'own.img'));
  expect([uid, size]).toEqual([107, 8 * MIB]);
});

test('shutdownDomain, inspectDomain and destroyDomain reach the launcher, also of a Pod that the API server lost', async () => {
  objects.delete('Pod/launcher');
  await activities.shutdownDomain({ ...request, deadline: '2026-11-29T12:00:30.000Z' });
  expect(await activities.inspectDomain(request)).toMatchObject({ state: 'running' });
  await activities.destroyDomain(request);
  expect(launcher.received.map(({ method }) => method).filter((method) => method !== 'Handshake')).toEqual([
    'ShutdownVMI',
    'GetDomain',
    'KillVMI',
  ]);
});

test('a Pod that is gone and was not on this node is nobody’s to act on', async () => {
  objects.delete('Pod/launcher');
  const elsewhere = { ...request, pod: { ...request.pod, node: 'node-b' } };
  await expect(activities.destroyDomain(elsewhere)).rejects.toMatchObject({ type: 'ObjectGone' });
  await expect(activities.proveDomainGone(elsewhere)).rejects.toMatchObject({ type: 'ObjectGone' });
});

test('proveDomainGone: a domain that runs is not gone', async () => {
  await expect(activities.proveDomainGone(request)).rejects.toMatchObject({ type: 'StillRunning' });
});

test('proveDomainGone (a): the launcher says so and no QEMU is left; mounts are released', async () => {
  await activities.syncInstance(request);
  launcher.say({ state: 'shutoff', end: 'acpiShutdown' });
  expect(await activities.proveDomainGone(request)).toMatchObject({
    by: 'launcher',
    lastReport: { state: 'shutoff', end: 'acpiShutdown', node: NODE },
  });
  expect(await ports.mounts.below(pods)).toEqual([]);
  await expect(activities.proveDomainGone(request)).resolves.toMatchObject({ by: 'launcher' });
});

test('proveDomainGone: the launcher’s word alone is not enough while QEMU is there', async () => {
  launcher.say({ state: 'none' });
  const qemu = await startContainer({ podUid, directory: base, command: 'qemu-system-x86_64' });
  try {
    await expect(activities.proveDomainGone(request)).rejects.toMatchObject({
      type: 'StillRunning',
      message: expect.stringContaining(`pid ${qemu.pid}`),
    });
    launcher.stop();
    await expect(activities.proveDomainGone(request)).rejects.toMatchObject({ type: 'StillRunning' });
  } finally {
    await qemu.kill();
  }
});

test('proveDomainGone: silence proves nothing', async () => {
  launcher.stop();
  await expect(activities.proveDomainGone(request)).rejects.toMatchObject({ type: 'Unproven' });
});

test('proveDomainGone (b): no process of the Pod is left; its last report is what it left behind', async () => {
  await activities.syncInstance(request);
  launcher.stop();
  for (const container of [compute, image]) await container.kill();
  objects.delete('Pod/launcher');
  const last = { ...launcher.current, state: 'shutoff', end: 'agentShutdown' };
  await writeFile(join(pods, podUid, 'volumes/kubernetes.io~empty-dir/state/last-report.json'), JSON.stringify(last));
  expect(await activities.proveDomainGone(request)).toMatchObject({
    by: 'nodeWorker',
    lastReport: { state: 'shutoff', end: 'agentShutdown', node: NODE, podUid },
  });
  expect(await ports.mounts.below(pods)).toEqual([]);
});

test('proveDomainGone (b): the containers of images may outlive the launcher’s', async () => {
  await activities.syncInstance(request);
  launcher.stop();
  await compute.kill();
  expect(await activities.proveDomainGone(request)).toMatchObject({
    by: 'nodeWorker',
    detail: expect.stringContaining('container compute'),
  });
  expect(await ports.mounts.below(pods)).toEqual([]);
  // Without the API server's word which container was the launcher's, the one that is left may be it.
  objects.delete('Pod/launcher');
  await expect(activities.proveDomainGone(request)).rejects.toMatchObject({ type: 'Unproven' });
});

test('the sweep unmounts only in Pods that have ended', async () => {
  const quiet = { info: () => {} };
  await activities.syncInstance(request);
  await sweep(ports, quiet);
  expect(await ports.mounts.below(pods)).toHaveLength(1);
  for (const container of [compute, image]) await container.kill();
  await sweep(ports, quiet);
  expect(await ports.mounts.below(pods)).toEqual([]);
});
