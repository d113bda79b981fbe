import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube);
  const labels = { 'host-model-cpu.node.kubevirt.io/Skylake': 'true' };
  for (const name of ['node-a', 'node-b']) await kube.create('Node', { metadata: { name, labels } });
}, 120_000);
afterAll(() => server.close(), 30_000);

/** Runs an activity twice, as Temporal may; both must say the same. */
const twice = async <T>(run: () => Promise<T>): Promise<T> => {
  const first = await run();
  await expect(run()).resolves.toEqual(first);
  return first;
};
const namespace = 'default';
const place = async (pod: PodRef, node: string): Promise<Required<PodRef>> => {
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: pod.name },
    target: { kind: 'Node', name: node },
  };
  await server.rest.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${pod.name}/binding`, body });
  return { name: pod.name, uid: pod.uid, node };
};

/** A VMI that runs on node-a, and a VMIM that wants it elsewhere. */
const running = async (name: string) => {
  const object: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace, name },
    spec: { domain: { memory: { guest: '64Mi' }, devices: {} } },
  };
  const vmi = refOf(await kube.create('VirtualMachineInstance', object));
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const source = await place(await activities.ensureLauncherPod({ vmi, attempt: 1, epoch }), 'node-a');
  await activities.bindToken({ vmi, epoch, pod: source });
  return { vmi, epoch, source, migration: await newMigration(name) };
};
const newMigration = async (vmiName: string): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachineInstanceMigration', {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { namespace, generateName: `${vmiName}-` },
      spec: { vmiName, addedNodeSelector: { rack: 'r3' } },
    }),
  );
/** The same, with the target Pod on node-b and the token moving to it. */
const moving = async (name: string) => {
  const found = await running(name);
  const target = await place(await activities.ensureTargetPod(found), 'node-b');
  await activities.recordMove({ ...found, target });
  return { ...found, target };
};

test('a target Pod is created once, apart from the source, for its migration', async () => {
  const request = await running('once');
  const pod = await twice(() => activities.ensureTargetPod(request));
  expect(pod).toMatchObject({
    createdBy: request.vmi.uid,
    migration: { uid: request.migration.uid },
    phase: 'Pending',
  });
  expect(pod).not.toHaveProperty('attempt');
  expect((await kube.get('Pod', { namespace, name: pod.name }))?.spec).toMatchObject({
    nodeSelector: { rack: 'r3', 'cpu-model-migration.node.kubevirt.io/Skylake': 'true' },
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] },
    },
  });
  await expect(activities.deletePod({ vmi: request.vmi, pod })).resolves.toMatchObject({ gone: true });
});

test('no target Pod for another epoch, another source, a VMIM that is gone, or a VMI that is being deleted', async () => {
  const request = await running('refused');
  const refusal = (more: object) => activities.ensureTargetPod({ ...request, ...more });
  await expect(refusal({ epoch: 7 })).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(refusal({ source: { name: 'p', uid: 'u' } })).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(refusal({ migration: { ...request.migration, uid: 'u' } })).rejects.toMatchObject({
    type: 'ObjectGone',
  });
  await kube.mergePatch('VirtualMachineInstance', request.vmi, { metadata: { finalizers: ['test/stay'] } });
  await kube.remove('VirtualMachineInstance', request.vmi, { uid: request.vmi.uid });
  await expect(refusal({})).rejects.toMatchObject({ type: 'ObjectGone', message: /being deleted/ });
});

test('what an earlier migration has left behind is a rival', async () => {
  const request = await running('rival');
  const left = await place(await activities.ensureTargetPod(request), 'node-b');
  const next = { ...request, migration: await newMigration('rival') };
  await expect(activities.ensureTargetPod(next)).rejects.toMatchObject({
    type: 'TokenHeld',
    message: expect.stringContaining(left.name),
  });
});

test('a target Pod that is gone while the token moves to it is not created again', async () => {
  const request = await moving('gone');
  await kube.remove(
    'Pod',
    { namespace, name: request.target.name },
    { uid: request.target.uid, gracePeriodSeconds: 0 },
  );
  await expect(activities.ensureTargetPod(request)).rejects.toMatchObject({ type: 'PodFailed' });
});

test('the token moves: recorded, seen by whoever adopts, moved under a new epoch', async () => {
  const request = await running('moves');
  const { vmi, epoch, source } = request;
  const target = await place(await activities.ensureTargetPod(request), 'node-b');
  const recorded = await twice(() => activities.recordMove({ ...request, target }));
  expect(recorded).toMatchObject({
    epoch,
    holder: { podUid: source.uid },
    moving: { podUid: target.uid, node: 'node-b' },
  });
  await expect(activities.adoptInstance(vmi)).resolves.toMatchObject({ token: recorded });
  const moved = await twice(() => activities.moveToken({ ...request, target }));
  expect(moved).toEqual({
    epoch: epoch + 1,
    holder: { vmiUid: vmi.uid, attempt: 1, podUid: target.uid, podName: target.name, node: 'node-b' },
  });
  await expect(activities.readToken(vmi)).resolves.toEqual(moved);
  await expect(activities.tokenStays(request)).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(activities.bindToken({ vmi, epoch, pod: source })).rejects.toMatchObject({ type: 'StaleToken' });
  await activities.releaseToken({ vmi, epoch });
  await expect(activities.readToken(vmi)).resolves.toEqual(moved);
});

test('the source keeps the token, and the migration never moves it again', async () => {
  const request = await moving('stays');
  const kept = await twice(() => activities.tokenStays(request));
  expect(kept).not.toHaveProperty('moving');
  expect(kept).toMatchObject({ epoch: request.epoch, holder: { podUid: request.source.uid } });
  await expect(activities.recordMove(request)).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(activities.moveToken(request)).rejects.toMatchObject({ type: 'StaleToken' });
});

test('while it moves, nobody takes or frees it before both Pods have ended', async () => {
  const { vmi, source, target } = await moving('held');
  const ended = {
    phase: 'Succeeded',
    containerStatuses: [
      {
        name: 'compute',
        image: 'i',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 0 } },
      },
    ],
  };
  const end = ({ name }: PodRef) =>
    kube.mergePatch('Pod', { namespace, name }, { status: ended }, { subresource: 'status' });
  await end(source);
  const held = { type: 'TokenHeld', message: expect.stringContaining(target.name) as unknown };
  await expect(activities.acquireToken({ vmi, attempt: 2 })).rejects.toMatchObject(held);
  await expect(activities.releaseToken({ vmi })).rejects.toMatchObject(held);
  await end(target);
  await activities.releaseToken({ vmi });
  await expect(activities.acquireToken({ vmi, attempt: 2 })).resolves.toMatchObject({ holder: { attempt: 2 } });
});

test('a Service routes to the Pod that holds the token, and to no other', async () => {
  const request = await moving('service');
  const { vmi, source, target } = request;
  const gates = async (): Promise<(string | undefined)[]> =>
    Promise.all(
      [source, target].map(async ({ name }) => {
        const conditions = (await kube.get('Pod', { namespace, name }))?.status?.conditions ?? [];
        return conditions.find(({ type }) => type === 'kubevirt.io/virtual-machine-unpaused')?.status;
      }),
    );
  const said = ({ uid, node }: Required<PodRef>): InstanceReport => ({
    phase: 'Running',
    phaseTimes: [],
    activePods: { [source.uid]: 'node-a', [target.uid]: 'node-b' },
    node,
    conditions: [],
    domain: {
      ...{ vmi, podUid: uid, node, sequence: { epoch: 1, n: 1 }, at: '2026-01-01T00:00:09Z', state: 'running' },
      agent: { connected: false },
    },
  });
  await activities.publishInstance({ vmi, report: said(source) });
  expect(await gates()).toEqual(['True', undefined]);
  // The guest runs there, and the token has not moved yet.
  await activities.publishInstance({ vmi, report: said(target) });
  expect(await gates()).toEqual(['True', undefined]);
  await activities.moveToken(request);
  await activities.publishInstance({ vmi, report: said(target) });
  expect(await gates()).toEqual(['False', 'True']);
  // The Pod that runs the guest says where.
  const { metadata, spec } = (await kube.get('Pod', { namespace, name: target.name })) ?? {};
  expect(metadata?.labels?.['kubevirt.io/nodeName']).toBe(spec?.nodeName);
});
