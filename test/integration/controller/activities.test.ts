import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ControllerActivities, InstanceReport, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { InstanceFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';
import { until } from '../../support/until.ts';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube, { configuration: { network: { defaultNetworkInterface: 'masquerade' } } });
}, 120_000);
afterAll(() => server.close(), 30_000);

/** Runs an activity twice, as Temporal may; both must say the same. */
const twice = async <T>(run: () => Promise<T>): Promise<T> => {
  const first = await run();
  await expect(run()).resolves.toEqual(first);
  return first;
};

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    domain: { memory: { guest: '128Mi' }, devices: {} },
    terminationGracePeriodSeconds: 20,
    volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }],
  },
};
const newVm = async (name: string): Promise<ObjectRef> => {
  const vm: VirtualMachine = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name },
    spec: { runStrategy: 'Always', template },
  };
  return refOf(await kube.create('VirtualMachine', vm));
};
/** A VM with its VMI, token taken and Pod created. */
const started = async (name: string) => {
  const vm = await newVm(name);
  const { vmi } = await activities.createInstance({ vm });
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const pod = await activities.ensureLauncherPod({ vmi, attempt: 1, epoch });
  return { vm, vmi, epoch, pod };
};
const podStatus = (name: string, status: object) =>
  kube.mergePatch('Pod', { namespace: 'default', name }, { status }, { subresource: 'status' });
const bindToNode = (name: string, node: string) =>
  server.rest.send({
    method: 'POST',
    path: `/api/v1/namespaces/default/pods/${name}/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: node } },
  });
const writes = async (ref: ObjectRef) => (await kube.get('VirtualMachineInstance', ref))?.metadata?.resourceVersion;
const report = (more: Partial<InstanceReport> = {}): InstanceReport => ({
  phase: 'Scheduling',
  phaseTimes: [{ phase: 'Pending', at: '2026-01-01T00:00:00Z' }],
  activePods: {},
  conditions: [{ type: 'Ready', status: 'False', reason: 'GuestNotRunning' }],
  ...more,
});

test('a VM gets its finalizer, one VMI, and lets both go', async () => {
  const vm = await newVm('life');
  await expect(twice(() => activities.adoptVirtualMachine(vm))).resolves.toBeUndefined();
  expect((await kube.get('VirtualMachine', vm))?.metadata?.finalizers).toEqual([
    'kubevirt.io/virtualMachineControllerFinalize',
  ]);
  const { vmi, owner } = await twice(() => activities.createInstance({ vm }));
  expect(owner).toEqual({ name: 'life', uid: vm.uid });
  await expect(twice(() => activities.adoptVirtualMachine(vm))).resolves.toMatchObject({ vmi });
  const left = await activities.deleteInstance({ vm, vmi, gracePeriodSeconds: 3 });
  expect(left).toMatchObject({ deleting: true, gracePeriodSeconds: 3 });
  await twice(() => activities.releaseInstance({ vmi }));
  await expect(activities.deleteInstance({ vm, vmi })).resolves.toMatchObject({ gone: true });
  await kube.remove('VirtualMachine', vm, { uid: vm.uid });
  await twice(() => activities.releaseVirtualMachine(vm));
  await expect(kube.get('VirtualMachine', vm)).resolves.toBeUndefined();
});

test('a foreign VMI under the VM’s name is not taken for its own', async () => {
  const vm = await newVm('foreign');
  const vmi: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      ...{ namespace: 'default', name: 'foreign' },
      ownerReferences: [
        { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'foreign', uid: 'another', controller: true },
      ],
    },
    spec: template.spec,
  };
  await kube.create('VirtualMachineInstance', vmi);
  await expect(activities.createInstance({ vm })).rejects.toMatchObject({ type: 'TokenHeld' });
  await expect(activities.adoptVirtualMachine(vm)).resolves.toBeUndefined();
});

test('token, Pod, binding: each twice, one Pod, one epoch', async () => {
  const { vmi } = await activities.createInstance({ vm: await newVm('token') });
  const token = await twice(() => activities.acquireToken({ vmi, attempt: 1 }));
  expect(token).toMatchObject({ epoch: 1, holder: { vmiUid: vmi.uid } });
  const pod = await twice(() => activities.ensureLauncherPod({ vmi, attempt: 1, epoch: 1 }));
  expect(pod).toMatchObject({ createdBy: vmi.uid, attempt: 1, phase: 'Pending' });
  const place = { name: pod.name, uid: pod.uid, node: 'node-a' };
  const bound = await twice(() => activities.bindToken({ vmi, epoch: 1, pod: place }));
  expect(bound.holder).toMatchObject({ podUid: pod.uid, node: 'node-a' });
  const found = await activities.adoptInstance(vmi);
  expect(found).toMatchObject({ instance: { vmi }, token: bound, pods: [{ uid: pod.uid }] });
  await twice(() => activities.releaseToken({ vmi, epoch: 1 }));
  await expect(activities.acquireToken({ vmi, attempt: 2 })).resolves.toMatchObject({ epoch: 2 });
});

test('an attempt whose epoch has passed creates nothing', async () => {
  const { vmi, epoch } = await started('stale');
  await activities.releaseToken({ vmi });
  await activities.acquireToken({ vmi, attempt: 2 });
  await expect(activities.ensureLauncherPod({ vmi, attempt: 1, epoch })).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(activities.bindToken({ vmi, epoch, pod: { name: 'p', uid: 'u' } })).rejects.toMatchObject({
    type: 'StaleToken',
  });
});

test('a VM made anew under the same name does not start while the old Pod may run its domain', async () => {
  const { vm, vmi, epoch, pod } = await started('anew');
  await bindToNode(pod.name, 'node-a');
  await activities.bindToken({ vmi, epoch, pod: { name: pod.name, uid: pod.uid, node: 'node-a' } });
  // Finalizers stripped by force, object and VM gone, the Pod still there.
  for (const [kind, ref] of [
    ['VirtualMachineInstance', vmi],
    ['VirtualMachine', vm],
  ] as const) {
    await kube.mergePatch(kind, ref, { metadata: { finalizers: null } });
    await kube.remove(kind, ref, { uid: ref.uid });
  }
  const { vmi: later } = await activities.createInstance({ vm: await newVm('anew') });
  const held = activities.acquireToken({ vmi: later, attempt: 1 });
  await expect(held).rejects.toMatchObject({ type: 'TokenHeld', message: expect.stringContaining(pod.name) });
  // Even with the Lease deleted by hand the Pod is found.
  await server.rest.send({
    method: 'DELETE',
    path: '/apis/coordination.k8s.io/v1/namespaces/default/leases/virtflow-anew',
  });
  await expect(activities.acquireToken({ vmi: later, attempt: 1 })).rejects.toMatchObject({ type: 'TokenHeld' });
  // Its kubelet says that it has ended.
  const ended = [
    { name: 'compute', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } },
  ];
  await podStatus(pod.name, { phase: 'Succeeded', containerStatuses: ended });
  await expect(activities.acquireToken({ vmi: later, attempt: 1 })).resolves.toMatchObject({
    holder: { vmiUid: later.uid },
  });
});

test('a second Pod of one VMI is refused while the first may run', async () => {
  const { vmi, epoch, pod } = await started('second');
  await bindToNode(pod.name, 'node-a');
  // The token says nothing of the Pod: the entity died before it was bound.
  await activities.releaseToken({ vmi, epoch });
  const next = await activities.acquireToken({ vmi, attempt: 2 });
  const refused = activities.ensureLauncherPod({ vmi, attempt: 2, epoch: next.epoch });
  await expect(refused).rejects.toMatchObject({ type: 'TokenHeld', message: expect.stringContaining(pod.name) });
});

test('a Pod that is gone is not created again under the same attempt', async () => {
  const { vmi, epoch, pod } = await started('once');
  await activities.bindToken({ vmi, epoch, pod: { name: pod.name, uid: pod.uid } });
  await expect(activities.deletePod({ vmi, pod })).resolves.toMatchObject({ gone: true });
  await expect(activities.deletePod({ vmi, pod })).resolves.toMatchObject({ gone: true });
  await expect(activities.observePod({ vmi, pod })).resolves.toMatchObject({ gone: true, provenEnded: false });
  await expect(activities.ensureLauncherPod({ vmi, attempt: 1, epoch })).rejects.toMatchObject({ type: 'PodFailed' });
});

test('a Pod that holds no guest is deleted within seconds, also if it was already being deleted', async () => {
  const { vmi, pod } = await started('no-guest');
  await bindToNode(pod.name, 'node-a');
  const graceOf = async () =>
    (await kube.get('Pod', { namespace: vmi.namespace, name: pod.name }))?.metadata?.deletionGracePeriodSeconds;
  await expect(activities.deletePod({ vmi, pod })).resolves.toMatchObject({ deleting: true });
  expect(await graceOf()).toBeGreaterThanOrEqual(30);
  await expect(activities.deletePod({ vmi, pod, holdsNoGuest: true })).resolves.toMatchObject({ deleting: true });
  expect(await graceOf()).toBe(2);
});

test('claims: missing, not bound, bound', async () => {
  const { vmi } = await activities.createInstance({ vm: await newVm('claims') });
  await expect(activities.checkVolumes(vmi)).rejects.toMatchObject({
    type: 'VolumeNotFound',
    message: expect.stringContaining('default/disk'),
  });
  const spec = {
    accessModes: ['ReadWriteOnce' as const],
    storageClassName: '',
    resources: { requests: { storage: '1Gi' } },
  };
  await kube.create('PersistentVolumeClaim', { metadata: { namespace: 'default', name: 'disk' }, spec });
  await expect(activities.checkVolumes(vmi)).rejects.toMatchObject({ type: 'VolumeNotReady' });
  await kube.mergePatch(
    'PersistentVolumeClaim',
    { namespace: 'default', name: 'disk' },
    { status: { phase: 'Bound' } },
    { subresource: 'status' },
  );
  await twice(() => activities.checkVolumes(vmi));
});

test('a spec that cannot work is refused with its fields, and keeps the finalizer', async () => {
  const spec = { domain: { devices: { disks: [{ name: 'ghost' }] } } };
  const vmi: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'broken' },
    spec,
  };
  const ref = refOf(await kube.create('VirtualMachineInstance', vmi));
  const refused = activities.admitInstance(ref);
  await expect(refused).rejects.toMatchObject({
    type: 'InvalidSpec',
    nonRetryable: true,
    message: expect.stringMatching(/memory.*ghost|ghost.*memory/s),
  });
  expect((await kube.get('VirtualMachineInstance', ref))?.metadata?.finalizers).toContain(
    'kubevirt.io/foregroundDeleteVirtualMachine',
  );
});

test('a guest whose TPM keeps its state gets a claim for it, with its first Pod', async () => {
  const created = await kube.create('VirtualMachineInstance', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'keeps' },
    spec: { domain: { memory: { guest: '128Mi' }, devices: { tpm: { persistent: true } } } },
  });
  const vmi = { namespace: 'default', name: 'keeps', uid: created.metadata?.uid ?? '' };
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const { name } = await twice(() => activities.ensureLauncherPod({ vmi, attempt: 1, epoch }));
  const claim = await kube.get('PersistentVolumeClaim', { namespace: 'default', name: 'persistent-state-for-keeps' });
  expect(claim?.metadata?.ownerReferences).toMatchObject([{ kind: 'VirtualMachineInstance', uid: vmi.uid }]);
  const pod = await kube.get('Pod', { namespace: 'default', name });
  expect(pod?.spec?.volumes).toContainEqual({
    name: 'vm-state',
    persistentVolumeClaim: { claimName: 'persistent-state-for-keeps' },
  });
});

test('a status is written once, and only what differs', async () => {
  const { vmi, pod } = await started('status');
  const running = report({
    phase: 'Running',
    activePods: { [pod.uid]: 'node-a' },
    node: 'node-a',
    conditions: [{ type: 'Ready', status: 'True' }],
    domain: {
      vmi,
      podUid: pod.uid,
      node: 'node-a',
      sequence: { epoch: 1, n: 1 },
      at: '2026-01-01T00:00:09Z',
      state: 'running',
      agent: { connected: true },
    },
  });
  await activities.publishInstance({ vmi, report: running });
  const after = await writes(vmi);
  await activities.publishInstance({ vmi, report: running });
  expect(await writes(vmi)).toBe(after);
  const object = await kube.get('VirtualMachineInstance', vmi);
  expect(object).toMatchObject({
    metadata: { labels: { app: 'web', 'kubevirt.io/nodeName': 'node-a' } },
    status: {
      ...{ phase: 'Running', nodeName: 'node-a', migrationMethod: 'LiveMigration' },
      // Its claim is not there.
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable' },
        { type: 'StorageLiveMigratable', status: 'True' },
      ],
    },
  });
  const gate = (await kube.get('Pod', { namespace: 'default', name: pod.name }))?.status?.conditions;
  expect(gate).toContainEqual(
    expect.objectContaining({ type: 'kubevirt.io/virtual-machine-unpaused', status: 'True' }),
  );
});

test("the front door's request fields survive a status write", async () => {
  const { vmi } = await activities.createInstance({ vm: await newVm('evict') });
  await kube.mergePatch('VirtualMachineInstance', vmi, { status: { evacuationNodeName: 'node-a' } });
  await activities.publishInstance({ vmi, report: report({ activePods: { p1: '' } }) });
  expect((await kube.get('VirtualMachineInstance', vmi))?.status).toMatchObject({
    phase: 'Scheduling',
    evacuationNodeName: 'node-a',
  });
});

test('a settled request goes, a later one stays, and the status tells', async () => {
  const vm = await newVm('requests');
  await kube.mergePatch(
    'VirtualMachine',
    vm,
    { status: { stateChangeRequests: [{ action: 'Start' }, { action: 'Stop', uid: 'later' }] } },
    { subresource: 'status' },
  );
  const said: VirtualMachineReport = {
    ...{ ends: false, then: 'run', generation: 1, conditions: [] },
    settledRequests: [{ id: 1, action: 'Start', outcome: 'served', message: 'it runs' }],
  };
  await expect(twice(() => activities.publishVirtualMachine({ vm, report: said }))).resolves.toMatchObject({
    stateChangeRequests: [{ action: 'Stop', uid: 'later' }],
  });
  expect((await kube.get('VirtualMachine', vm))?.status).toMatchObject({
    stateChangeRequests: [{ action: 'Stop', uid: 'later' }],
    printableStatus: 'Starting',
    created: false,
    conditions: [{ type: 'Ready', reason: 'VMINotExists' }],
  });
});

test('what is gone needs no writing', async () => {
  const ghost: ObjectRef = { namespace: 'default', name: 'ghost', uid: 'no-such-uid' };
  await activities.publishInstance({ vmi: ghost, report: report() });
  await activities.releaseInstance({ vmi: ghost });
  await activities.releaseVirtualMachine(ghost);
  await activities.releaseToken({ vmi: ghost });
  await expect(activities.admitInstance(ghost)).rejects.toMatchObject({ type: 'ObjectGone' });
  const adopted: { instance?: InstanceFacts } = await activities.adoptInstance(ghost);
  expect(adopted.instance).toBeUndefined();
});

const bareVmi = async (namespace: string, volumes: Volume[] = []): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachineInstance', {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { namespace, name: 'v' },
      spec: { domain: { memory: { guest: '64Mi' }, devices: {} }, volumes },
    }),
  );

test('a quota and PodSecurity: the message names the remedy', async () => {
  const namespace = async (name: string, labels: Record<string, string>) =>
    server.rest.send({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    });
  await namespace('secure', { 'pod-security.kubernetes.io/enforce': 'restricted' });
  // An ordinary launcher Pod needs no privilege; one with a directory of its node does.
  const hostDisk = { path: '/disks/a.img', type: 'DiskOrCreate', capacity: '1Gi' };
  const ref = await bareVmi('secure', [{ name: 'd', hostDisk }]);
  const { epoch } = await activities.acquireToken({ vmi: ref, attempt: 1 });
  const refused = activities.ensureLauncherPod({ vmi: ref, attempt: 1, epoch });
  await expect(refused).rejects.toMatchObject({
    type: 'Forbidden',
    message: expect.stringContaining('pod-security.kubernetes.io/enforce=privileged'),
  });

  await namespace('small', {});
  await kube.create('ResourceQuota', { metadata: { namespace: 'small', name: 'q' }, spec: { hard: { pods: '0' } } });
  // Without a quota controller the status is ours to write; admission counts from it.
  await kube.mergePatch(
    'ResourceQuota',
    { namespace: 'small', name: 'q' },
    { status: { hard: { pods: '0' }, used: { pods: '0' } } },
    { subresource: 'status' },
  );
  const other = await bareVmi('small');
  const token = await activities.acquireToken({ vmi: other, attempt: 1 });
  const tooMuch = activities.ensureLauncherPod({ vmi: other, attempt: 1, epoch: token.epoch });
  await expect(tooMuch).rejects.toMatchObject({
    type: 'QuotaExceeded',
    message: expect.stringContaining('Raise the ResourceQuota'),
  });
});

test('a VMI is let go by all names that its finalizer has had', async () => {
  const vmi = await bareVmi('default');
  await activities.admitInstance(vmi);
  const finalizers = ['foregroundDeleteVirtualMachine', 'kubevirt.io/foregroundDeleteVirtualMachine'];
  await kube.mergePatch('VirtualMachineInstance', vmi, { metadata: { finalizers } });
  await kube.remove('VirtualMachineInstance', vmi, { uid: vmi.uid });
  await twice(() => activities.releaseInstance({ vmi }));
  await expect(kube.get('VirtualMachineInstance', vmi)).resolves.toBeUndefined();
});

test('a namespace whose quota bounds limits gets Pods with limits', async () => {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bounded' } };
  await server.rest.send({ method: 'POST', path: '/api/v1/namespaces', body });
  const hard = { 'limits.cpu': '8', 'limits.memory': '8Gi' };
  const metadata = { namespace: 'bounded', name: 'q' };
  await kube.create('ResourceQuota', { metadata, spec: { hard } });
  const status = { hard, used: { 'limits.cpu': '0', 'limits.memory': '0' } };
  await kube.mergePatch('ResourceQuota', metadata, { status }, { subresource: 'status' });
  const vmi = await bareVmi('bounded');
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const { name } = await activities.ensureLauncherPod({ vmi, attempt: 1, epoch });
  const pod = await kube.get('Pod', { namespace: 'bounded', name });
  const all = [...(pod?.spec?.containers ?? []), ...(pod?.spec?.initContainers ?? [])];
  expect(all.every(({ resources }) => resources?.limits?.['cpu'] !== undefined)).toBe(true);
  expect(all.every(({ resources }) => resources?.limits?.['memory'] !== undefined)).toBe(true);
});

test('what happens to an instance is told as Events, once each', async () => {
  const { vmi, pod } = await started('told');
  const domain = {
    ...{ vmi, podUid: pod.uid, node: 'node-a', sequence: { epoch: 1, n: 1 }, at: '2026-01-01T00:00:09Z' },
    ...{ state: 'running' as const, agent: { connected: false } },
  };
  const running = report({ phase: 'Running', activePods: { [pod.uid]: 'node-a' }, domain });
  const over = report({ phase: 'Succeeded', phaseTimes: [{ phase: 'Running', at: '2026-01-01T00:00:09Z' }] });
  for (const told of [running, running, over, over]) await activities.publishInstance({ vmi, report: told });
  const { items } = (await server.rest.send({ method: 'GET', path: '/api/v1/namespaces/default/events' })) as {
    items: { involvedObject: { uid: string }; reason: string; message: string }[];
  };
  const ours = items.filter(({ involvedObject }) => involvedObject.uid === vmi.uid);
  expect(ours.map(({ reason, message }) => `${reason}: ${message}`).sort()).toEqual([
    'Created: VirtualMachineInstance defined.',
    'Started: VirtualMachineInstance started.',
    'Stopped: The VirtualMachineInstance was shut down.',
    `SuccessfulCreate: Created virtual machine pod ${pod.name}`,
  ]);
});

test('the creation and the deletion of its VMI are told as events of the VM, once each', async () => {
  const vm = await newVm('events');
  const { vmi } = await twice(() => activities.createInstance({ vm }));
  await twice(() => activities.deleteInstance({ vm, vmi }));
  const reasons = async (): Promise<string[]> => {
    const { items } = (await server.rest.send({ method: 'GET', path: '/api/v1/namespaces/default/events' })) as {
      items: { involvedObject: { uid: string }; reason: string }[];
    };
    return items.filter(({ involvedObject }) => involvedObject.uid === vm.uid).map(({ reason }) => reason);
  };
  // Nobody waits for them.
  await until('both are told', async () => (await reasons()).length >= 2);
  expect((await reasons()).sort()).toEqual(['SuccessfulCreate', 'SuccessfulDelete']);
});
