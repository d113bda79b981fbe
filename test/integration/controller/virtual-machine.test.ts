import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControllerActivities, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { refOf, virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { until } from '../../support/until.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  activities = activitiesOn(kube);
}, 120_000);
afterAll(() => server.close(), 30_000);

const NAMESPACE = 'default';
const spec = { domain: { memory: { guest: '128Mi' }, devices: {} }, terminationGracePeriodSeconds: 20 };
const newVm = async (name: string, more: Partial<VirtualMachine['spec']> = {}): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachine', {
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: NAMESPACE, name } },
      spec: { runStrategy: 'Always', template: { spec }, ...more },
    }),
  );
const bare = (name: string): VirtualMachineInstance => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { namespace: NAMESPACE, name }, spec },
});
const vmOf = async (ref: ObjectRef) => (await kube.get('VirtualMachine', ref)) ?? never();
const vmiOf = async (ref: ObjectRef) => (await kube.get('VirtualMachineInstance', ref)) ?? never();
const never = (): never => {
  throw new Error('it is gone');
};
const status = (ref: ObjectRef, patch: object) =>
  kube.mergePatch('VirtualMachine', ref, { status: patch }, { subresource: 'status' });
const report = (more: Partial<VirtualMachineReport> = {}): VirtualMachineReport => ({
  ...{ ends: false, then: 'run', generation: 1, runStrategy: 'Always', conditions: [], settledRequests: [], ...more },
});
const conditionOf = ({ status: is }: VirtualMachine, wanted: string) =>
  is?.conditions?.find(({ type }) => type === wanted);
const revisionsOf = async ({ uid }: ObjectRef) =>
  (await kube.list('ControllerRevision', { namespace: NAMESPACE })).filter(({ metadata }) =>
    metadata?.name?.startsWith(`revision-start-vm-${uid}-`),
  );

describe('a start', () => {
  test('puts the finalizer on the VM and keeps the spec that the instance stands for', async () => {
    const vm = await newVm('kept');
    await activities.createInstance({ vm });
    const vmi = await vmiOf(vm);
    const name = `revision-start-vm-${vm.uid}-1`;
    expect(vmi.metadata?.annotations).toMatchObject({ 'kubevirt.io/vm-generation': '1' });
    expect(vmi.status).toMatchObject({ phase: 'Pending', virtualMachineRevisionName: name });
    const revision = await kube.get('ControllerRevision', { namespace: NAMESPACE, name });
    expect(revision).toMatchObject({
      ...{ revision: 1, data: { spec: (await vmOf(vm)).spec } },
      metadata: { ownerReferences: [{ kind: 'VirtualMachine', uid: vm.uid, controller: true }] },
    });
    expect((await vmOf(vm)).metadata?.finalizers).toEqual(['kubevirt.io/virtualMachineControllerFinalize']);
  });

  test('with another spec replaces what earlier starts have kept, with the same spec it stays', async () => {
    const vm = await newVm('again');
    const { vmi } = await activities.createInstance({ vm });
    await activities.publishVirtualMachine({ vm, report: report() });
    const startAnew = async (ref: ObjectRef): Promise<ObjectRef> => {
      await activities.deleteInstance({ vm, vmi: ref });
      await activities.releaseInstance({ vmi: ref });
      return (await activities.createInstance({ vm })).vmi;
    };
    const second = await startAnew(vmi);
    expect((await revisionsOf(vm)).map(({ revision }) => revision)).toEqual([1]);
    await kube.mergePatch('VirtualMachine', vm, { spec: { template: { spec: { hostname: 'other' } } } });
    await startAnew(second);
    expect((await revisionsOf(vm)).map(({ revision }) => revision)).toEqual([2]);
  });

  test('paused or not is what the caller says, whatever is on the list', async () => {
    const vm = await newVm('paused');
    await status(vm, { stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }] });
    const { vmi } = await activities.createInstance({ vm });
    expect((await vmiOf(vm)).spec.startStrategy).toBeUndefined();
    await activities.deleteInstance({ vm, vmi });
    await activities.releaseInstance({ vmi });
    await activities.createInstance({ vm, paused: true });
    expect((await vmiOf(vm)).spec.startStrategy).toBe('Paused');
  });

  test('makes a VMI that nobody owns the VM’s, by its creation and by a look', async () => {
    for (const adopt of ['createInstance', 'adoptVirtualMachine'] as const) {
      const name = `orphan-${adopt.toLowerCase()}`;
      const { metadata } = await kube.create('VirtualMachineInstance', bare(name));
      const vm = await newVm(name);
      const facts =
        adopt === 'createInstance' ? await activities.createInstance({ vm }) : await activities.adoptVirtualMachine(vm);
      expect(facts).toMatchObject({ vmi: { uid: metadata?.uid }, owner: { name, uid: vm.uid } });
    }
  });
});

describe('a template that changes under a running instance', () => {
  const started = async (name: string, conditions: object[] = []) => {
    const vm = await newVm(name);
    await activities.createInstance({ vm });
    await kube.mergePatch('VirtualMachineInstance', vm, { status: { phase: 'Running', conditions } });
    await activities.publishVirtualMachine({ vm, report: report() });
    const change = async (patch: object): Promise<VirtualMachine> => {
      const { metadata } = await kube.mergePatch('VirtualMachine', vm, { spec: patch });
      await activities.publishVirtualMachine({ vm, report: report({ generation: metadata?.generation ?? 0 }) });
      return vmOf(vm);
    };
    return { vm, change };
  };

  test('needs a restart, and none once it is as it was', async () => {
    const { change } = await started('changed');
    const changed = await change({ template: { spec: { domain: { memory: { guest: '256Mi' } } } } });
    expect(conditionOf(changed, 'RestartRequired')).toMatchObject({ status: 'True' });
    expect(conditionOf(changed, 'RestartRequired')?.message).toContain('spec.template.spec.domain.memory.guest');
    expect(changed.status).toMatchObject({ observedGeneration: 1, desiredGeneration: 2 });
    const back = await change({ template: { spec: { domain: { memory: { guest: '128Mi' } } } } });
    expect(conditionOf(back, 'RestartRequired')).toBeUndefined();
    expect(back.status).toMatchObject({ observedGeneration: 3, desiredGeneration: 3 });
  });

  test('another run strategy is none of it, and is noted on the VMI', async () => {
    const { vm, change } = await started('strategy');
    const changed = await change({ runStrategy: 'Manual' });
    expect(conditionOf(changed, 'RestartRequired')).toBeUndefined();
    expect(changed.status).toMatchObject({ observedGeneration: 2, desiredGeneration: 2 });
    expect((await vmiOf(vm)).metadata?.annotations).toMatchObject({ 'kubevirt.io/vm-generation': '2' });
  });

  test('where it may run is taken by a guest that can migrate', async () => {
    const { vm, change } = await started('placed', [{ type: 'LiveMigratable', status: 'True' }]);
    await change({ template: { spec: { nodeSelector: { zone: 'east', disk: 'ssd' } } } });
    expect((await vmiOf(vm)).spec.nodeSelector).toEqual({ zone: 'east', disk: 'ssd' });
    const changed = await change({ template: { spec: { nodeSelector: { zone: 'west', disk: null } } } });
    expect((await vmiOf(vm)).spec.nodeSelector).toEqual({ zone: 'west' });
    expect(conditionOf(changed, 'RestartRequired')).toBeUndefined();
  });
});

describe('requests', () => {
  test('one that comes while settled ones are taken off is not lost, and each outcome is told', async () => {
    const vm = await newVm('queue', { runStrategy: 'Manual' });
    await status(vm, { stateChangeRequests: [{ action: 'Start' }] });
    const settledRequests: VirtualMachineReport['settledRequests'] = [
      { id: 1, action: 'Start', outcome: 'served', message: 'it runs' },
    ];
    const appends = Array.from({ length: 10 }, async (_, n) => {
      const value = { action: 'Stop', uid: `i${n}` };
      const patch = [{ op: 'add', path: '/status/stateChangeRequests/-', value }];
      // The list may be gone at that moment: the front door then makes a new one.
      await kube.jsonPatch('VirtualMachine', vm, patch, { subresource: 'status' }).catch(() => undefined);
    });
    await Promise.all([activities.publishVirtualMachine({ vm, report: report({ settledRequests }) }), ...appends]);
    const left = (await vmOf(vm)).status?.stateChangeRequests ?? [];
    expect(left.every(({ action }) => action === 'Stop')).toBe(true);
    const { items } = (await until('the outcome is told', async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/events`;
      const found = (await server.rest.send({ method: 'GET', path })) as { items: { reason: string }[] };
      return found.items.some(({ reason }) => reason === 'RequestServed') ? found : undefined;
    })) as { items: { reason: string; message: string; involvedObject: { name: string } }[] };
    const told = items.find(({ reason }) => reason === 'RequestServed');
    expect(told).toMatchObject({ message: 'Request Start is served: it runs', involvedObject: { name: 'queue' } });
  });

  test('a halted VM becomes Always in the form in which it was written', async () => {
    const strategy = await newVm('switch-strategy', { runStrategy: 'Halted' });
    await expect(activities.switchOn(strategy)).resolves.toMatchObject({ runStrategy: 'Always', generation: 2 });
    await expect(activities.switchOn(strategy)).resolves.toMatchObject({ generation: 2 });
    const { metadata } = await kube.create('VirtualMachine', {
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine' },
      metadata: { namespace: NAMESPACE, name: 'switch-running' },
      spec: { running: false, template: { spec } },
    });
    const running = refOf({ metadata: metadata ?? {} });
    await activities.switchOn(running);
    expect((await vmOf(running)).spec).toMatchObject({ running: true });
    expect((await vmOf(running)).spec.runStrategy).toBeUndefined();
  });

  test('a start of our own is queued once, behind what is queued', async () => {
    const vm = await newVm('rerun', { runStrategy: 'RerunOnFailure' });
    await status(vm, { stateChangeRequests: [{ action: 'Stop', uid: 'i0' }] });
    await activities.queueStart(vm);
    const { stateChangeRequests } = await activities.queueStart(vm);
    expect(stateChangeRequests).toEqual([{ action: 'Stop', uid: 'i0' }, { action: 'Start' }]);
  });
});

test('a VM that is deleted without its instance says so', async () => {
  const vm = await newVm('orphaning');
  await activities.createInstance({ vm });
  await kube.remove('VirtualMachine', vm, { uid: vm.uid, propagation: 'Orphan' });
  expect(virtualMachineFacts(await vmOf(vm))).toMatchObject({ deleting: true, orphans: true });
});

test('DataVolumes where there are none: refused, with what to do', async () => {
  const dataVolumeTemplates = [{ metadata: { name: 'dv' }, spec: { source: { blank: {} } } }];
  const vm = await newVm('templates', { dataVolumeTemplates });
  expect(virtualMachineFacts(await vmOf(vm)).dataVolumes).toBe('now');
  await expect(activities.ensureDataVolumes(vm)).rejects.toMatchObject({
    ...{ type: 'VolumeNotFound', message: expect.stringContaining('install CDI') },
  });
});

test('DataVolumes where CDI serves them: created once, owned by the VM, and waited for', async () => {
  await server.rest.send({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: dataVolumeDefinition,
  });
  const dataVolumeTemplates = [{ metadata: { name: 'filled' }, spec: { source: { blank: {} } } }];
  const vm = await newVm('filling', { dataVolumeTemplates });
  const ensure = () => activities.ensureDataVolumes(vm).catch(() => undefined);
  await until('it is served', async () => (await ensure()) !== undefined, { timeoutMs: 20_000 });
  await expect(activities.ensureDataVolumes(vm)).resolves.toEqual({ state: 'provisioning' });
  const name = { namespace: NAMESPACE, name: 'filled' };
  expect(await kube.get('DataVolume', name)).toMatchObject({
    ...{ metadata: { ownerReferences: [{ uid: vm.uid, controller: true }] }, spec: { source: { blank: {} } } },
  });
  await kube.mergePatch('DataVolume', name, { status: { phase: 'Succeeded' } });
  await expect(activities.ensureDataVolumes(vm)).resolves.toEqual({ state: 'ready' });
}, 40_000);

/** As much of CDI's as is needed to store one. */
const dataVolumeDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'datavolumes.cdi.kubevirt.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    ...{ group: 'cdi.kubevirt.io', scope: 'Namespaced' },
    names: { plural: 'datavolumes', singular: 'datavolume', kind: 'DataVolume' },
    versions: [
      {
        ...{ name: 'v1beta1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
