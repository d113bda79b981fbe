import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import type { ControllerActivities, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';

/** VMs that refer to instance types and preferences, on a real API server. */
let server: TestApiServer;
let kube: KubePort;
let activities: ControllerActivities;
/** Requests so far, for those that must not be made. */
let requests = 0;
beforeAll(async () => {
  server = await startApiServer();
  const { rest } = server;
  kube = kubeClient({ ...rest, send: (request) => ((requests += 1), rest.send(request)) });
  activities = activitiesOn(kube);
}, 120_000);
afterAll(() => server.close(), 30_000);

const NAMESPACE = 'default';
const apiVersion = 'instancetype.kubevirt.io/v1beta1';
const type = (name: string, vcpus: number, more: object = {}) =>
  kube.create('VirtualMachineClusterInstancetype', {
    ...{ apiVersion, kind: 'VirtualMachineClusterInstancetype', metadata: { name } },
    spec: { cpu: { guest: vcpus }, memory: { guest: '64Mi' }, ...more },
  });
const preference = (name: string, spec: object) =>
  kube.create('VirtualMachinePreference', {
    ...{ apiVersion, kind: 'VirtualMachinePreference', metadata: { namespace: NAMESPACE, name }, spec },
  });
const newVm = async (name: string, more: Partial<VirtualMachine['spec']>): Promise<ObjectRef> =>
  refOf(
    await kube.create('VirtualMachine', {
      ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: NAMESPACE, name } },
      spec: { runStrategy: 'Manual', template: { spec: { domain: { devices: {} } } }, ...more },
    }),
  );
const vmOf = async (ref: ObjectRef) => (await kube.get('VirtualMachine', ref))!;
const vmiOf = async (ref: ObjectRef) => (await kube.get('VirtualMachineInstance', ref))!;
const publish = async (vm: ObjectRef, conditions: VirtualMachineReport['conditions'] = []) => {
  const report = { ends: false, then: 'stop', generation: 1, conditions, settledRequests: [] } as const;
  await activities.publishVirtualMachine({ vm, report: { ...report, settledRequests: [] } });
  return vmOf(vm);
};
const conditionOf = ({ status }: VirtualMachine, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted);
const change = (name: string, vcpus: number) =>
  kube.mergePatch('VirtualMachineClusterInstancetype', { name }, { spec: { cpu: { guest: vcpus } } });

describe('a start', () => {
  test('has what instance type and preference say, under the names by which they are found', async () => {
    await type('small', 2, { annotations: { tier: 'gold' } });
    await preference('linux', {
      devices: { preferredInterfaceModel: 'e1000e' },
      cpu: { preferredCPUTopology: 'cores' },
    });
    const vm = await newVm('web', {
      instancetype: { name: 'small' },
      preference: { name: 'linux', kind: 'VirtualMachinePreference' },
    });
    await activities.createInstance({ vm });
    const { metadata, spec } = await vmiOf(vm);
    expect(metadata?.annotations).toMatchObject({
      'kubevirt.io/cluster-instancetype-name': 'small',
      'kubevirt.io/preference-name': 'linux',
      tier: 'gold',
    });
    expect(spec.domain).toMatchObject({
      cpu: { sockets: 1, cores: 2, threads: 1 },
      memory: { guest: '64Mi' },
      devices: { interfaces: [{ name: 'default', model: 'e1000e' }] },
    });
  });

  test('keeps copies, named in the status, and is no other for later changes', async () => {
    const { metadata } = await type('kept', 2);
    const vm = await newVm('keeper', { instancetype: { name: 'kept' } });
    await activities.createInstance({ vm });
    const name = `keeper-kept-v1beta1-${metadata?.uid}-1`;
    expect((await vmOf(vm)).status?.instancetypeRef).toEqual({ name: 'kept', controllerRevisionRef: { name } });
    expect(await kube.get('ControllerRevision', { namespace: NAMESPACE, name })).toMatchObject({
      metadata: { ownerReferences: [{ uid: vm.uid, controller: true }] },
      data: { kind: 'VirtualMachineClusterInstancetype', spec: { cpu: { guest: 2 } } },
    });
    await change('kept', 4);
    const { vmi } = await activities.createInstance({ vm });
    await activities.deleteInstance({ vm, vmi });
    await activities.releaseInstance({ vmi });
    await activities.createInstance({ vm });
    expect((await vmiOf(vm)).spec.domain.cpu?.sockets).toBe(2);
  });

  test('follows a revision that the VM itself names', async () => {
    await type('named', 2);
    const first = await newVm('first', { instancetype: { name: 'named' } });
    await activities.createInstance({ vm: first });
    const revisionName = (await vmOf(first)).status?.instancetypeRef?.controllerRevisionRef?.name ?? '';
    await change('named', 8);
    const vm = await newVm('second', { instancetype: { name: 'named', revisionName } });
    await activities.createInstance({ vm });
    expect((await vmiOf(vm)).spec.domain.cpu?.sockets).toBe(2);
    expect((await vmOf(vm)).status?.instancetypeRef?.controllerRevisionRef?.name).toBe(revisionName);
  });

  test.each([
    ['instancetype', 'InstancetypeNotFound', /spec.instancetype: there is no VirtualMachineClusterInstancetype none/],
    ['preference', 'PreferenceNotFound', /spec.preference: there is no VirtualMachineClusterPreference none/],
  ])('waits for the %s', async (field, failure, message) => {
    const vm = await newVm(`without-${field}`, { [field]: { name: 'none' } });
    await expect(activities.createInstance({ vm })).rejects.toMatchObject({
      type: failure,
      nonRetryable: false,
      message: expect.stringMatching(message),
    });
    expect(await kube.get('VirtualMachineInstance', vm)).toBeUndefined();
  });

  test('of a VM that contradicts its instance type says where', async () => {
    await type('contradicted', 2);
    const template = { spec: { domain: { devices: {}, memory: { guest: '1Gi' } } } };
    const vm = await newVm('contradicts', { instancetype: { name: 'contradicted' }, template });
    await expect(activities.createInstance({ vm })).rejects.toMatchObject({
      type: 'InvalidSpec',
      message: expect.stringContaining('spec.template.spec.domain.memory.guest'),
    });
    expect((await vmOf(vm)).status?.instancetypeRef).toBeUndefined();
  });
});

describe('the status', () => {
  test('refers to copies also of a VM that does not run, which costs nothing from then on', async () => {
    await type('halted', 2);
    const vm = await newVm('halted', { runStrategy: 'Halted', instancetype: { name: 'halted' } });
    expect((await publish(vm)).status?.instancetypeRef).toMatchObject({ name: 'halted' });
    await change('halted', 4);
    const before = requests;
    await publish(vm);
    const costs = requests - before;
    const plain = await newVm('plain', { runStrategy: 'Halted' });
    await publish(plain);
    const beforePlain = requests;
    await publish(plain);
    expect(costs).toBe(requests - beforePlain);
    await activities.createInstance({ vm });
    expect((await vmiOf(vm)).spec.domain.cpu?.sockets).toBe(2);
  });

  test('says what is missing, until it is there', async () => {
    const vm = await newVm('early', { runStrategy: 'Halted', preference: { name: 'late' } });
    expect(conditionOf(await publish(vm), 'Failure')).toMatchObject({ status: 'True', reason: 'FailedFindPreference' });
    const kind = 'VirtualMachineClusterPreference';
    await kube.create(kind, { apiVersion, kind, metadata: { name: 'late' }, spec: {} });
    const after = await publish(vm);
    expect(conditionOf(after, 'Failure')).toBeUndefined();
    expect(after.status?.preferenceRef?.controllerRevisionRef?.name).toMatch(/^early-late-v1beta1-/);
  });

  test('follows a new reference, and forgets one that is gone', async () => {
    await type('one', 1);
    await type('two', 2);
    const vm = await newVm('moves', { runStrategy: 'Halted', instancetype: { name: 'one' } });
    await publish(vm);
    await kube.mergePatch('VirtualMachine', vm, { spec: { instancetype: { name: 'two' } } });
    expect((await publish(vm)).status?.instancetypeRef).toMatchObject({
      name: 'two',
      controllerRevisionRef: { name: expect.stringMatching(/^moves-two-/) },
    });
    await kube.mergePatch('VirtualMachine', vm, { spec: { instancetype: null } });
    expect((await publish(vm)).status).not.toHaveProperty('instancetypeRef');
  });
});

describe('a running instance', () => {
  const started = async (name: string, instancetype: string): Promise<ObjectRef> => {
    const vm = await newVm(name, { instancetype: { name: instancetype } });
    const { vmi } = await activities.createInstance({ vm });
    const running = { phase: 'Running' };
    await kube.mergePatch('VirtualMachineInstance', vmi, { status: running });
    return vm;
  };

  test('needs no restart for a change of its instance type, but for another one', async () => {
    await type('before', 1);
    await type('after', 3);
    const vm = await started('runs', 'before');
    await change('before', 2);
    expect(conditionOf(await publish(vm), 'RestartRequired')).toBeUndefined();
    await kube.mergePatch('VirtualMachine', vm, { spec: { instancetype: { name: 'after' } } });
    const required = conditionOf(await publish(vm), 'RestartRequired');
    expect(required).toMatchObject({ status: 'True', message: expect.stringContaining('domain.cpu') });
  });

  test('needs none for another name of the same', async () => {
    await type('same', 1);
    await type('as-same', 1);
    const vm = await started('stays', 'same');
    await kube.mergePatch('VirtualMachine', vm, { spec: { instancetype: { name: 'as-same' } } });
    expect(conditionOf(await publish(vm), 'RestartRequired')).toBeUndefined();
  });
});
