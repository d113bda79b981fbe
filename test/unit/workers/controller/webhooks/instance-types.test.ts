import { expect, test } from '@jest/globals';
import type { Kinds } from '../../../../../activities/kube/port.ts';
import { judges } from '../../../../../workers/controller/webhooks/index.ts';
import type { AdmissionRequest, Verdict } from '../../../../../workers/controller/webhooks/review.ts';
import { reading } from '../../../../support/objects.ts';
import { ports } from './ports.ts';

type World = { [K in keyof Kinds]?: object[] };

const ask = async (
  path: string,
  object: object,
  world: World = {},
  more: Partial<AdmissionRequest> = {},
): Promise<Verdict> => {
  const kube = { ...ports().kube, ...reading(world) };
  const request: AdmissionRequest = {
    ...{ uid: 'a', kind: { group: 'kubevirt.io', kind: 'VirtualMachine' }, name: 'web', namespace: 'shop' },
    ...{ operation: 'CREATE', userInfo: { username: 'jane' }, dryRun: false, object: { ...object }, ...more },
  };
  return (await judges({ ...ports(), kube })[path]?.(request)) ?? { allowed: true };
};
const causesOf = (verdict: Verdict): string[] =>
  verdict.allowed ? [] : (verdict.status.details?.causes ?? []).map(({ reason, field }) => `${reason} ${field}`);

const vm = (spec: object, template: object = {}, rest: object = {}) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: {
    runStrategy: 'Halted',
    template: { spec: { domain: { devices: { autoattachPodInterface: false } }, ...template } },
    ...spec,
  },
  ...rest,
});
const SMALL = { metadata: { name: 'small' }, spec: { cpu: { guest: 2 }, memory: { guest: '64Mi' } } };
const WORLD: World = {
  VirtualMachineClusterInstancetype: [SMALL],
  VirtualMachineInstancetype: [{ ...SMALL, metadata: { namespace: 'shop', name: 'own' } }],
  VirtualMachineClusterPreference: [
    { metadata: { name: 'big' }, spec: { requirements: { cpu: { guest: 4 }, memory: { guest: '1Gi' } } } },
    { metadata: { name: 'tooth' }, spec: { cpu: { preferredCPUTopology: 'spread', spreadOptions: { ratio: 3 } } } },
    {
      metadata: { name: 'arm' },
      spec: {
        preferredArchitecture: 'arm64',
        machine: { preferredMachineType: 'virt-8' },
        volumes: { preferredStorageClassName: 'fast' },
      },
    },
  ],
};
const VALIDATE = '/validate/virtualmachines';
const MUTATE = '/mutate/virtualmachines';

test.each([
  ['of the cluster', { name: 'small' }],
  ['of the namespace', { name: 'own', kind: 'VirtualMachineInstancetype' }],
])('a VM has the CPUs and the memory of an instance type %s', async (_, instancetype) => {
  expect(await ask(VALIDATE, vm({ instancetype }), WORLD)).toEqual({ allowed: true, warnings: [] });
});

test('every field that an instance type decides is a cause, beside whatever else is wrong', async () => {
  const template = {
    domain: { devices: {}, cpu: { cores: 1 }, memory: { guest: '1Gi' } },
    terminationGracePeriodSeconds: -1,
  };
  expect(causesOf(await ask(VALIDATE, vm({ instancetype: { name: 'small' } }, template), WORLD))).toEqual([
    'FieldValueInvalid spec.template.spec.domain.cpu.cores',
    'FieldValueInvalid spec.template.spec.domain.memory.guest',
    'FieldValueInvalid spec.template.spec.terminationGracePeriodSeconds',
  ]);
});

test('rules hold for what the VM will be', async () => {
  const pinned = { ...SMALL, spec: { ...SMALL.spec, cpu: { guest: 2, isolateEmulatorThread: true } } };
  const verdict = await ask(VALIDATE, vm({ instancetype: { name: 'small' } }), {
    VirtualMachineClusterInstancetype: [pinned],
  });
  expect(causesOf(verdict)).toEqual(['FieldValueInvalid spec.template.spec.domain.cpu.isolateEmulatorThread']);
});

test.each([
  [
    { instancetype: { name: 'small' }, preference: { name: 'big' } },
    ['FieldValueNotFound spec.instancetype', 'FieldValueNotFound spec.instancetype'],
  ],
  [
    { preference: { name: 'big' } },
    ['FieldValueNotFound spec.template.spec.domain.cpu.sockets', 'FieldValueNotFound spec.template.spec.domain.memory'],
  ],
  [
    { instancetype: { name: 'small' }, preference: { name: 'tooth' } },
    ['FieldValueInvalid instancetype.spec.cpu.guest'],
  ],
])('what a preference needs: %j', async (spec, causes) => {
  expect(causesOf(await ask(VALIDATE, vm(spec), WORLD))).toEqual(causes);
});

test('a VM may be there before what it refers to: it is told', async () => {
  const verdict = await ask(
    VALIDATE,
    vm({ instancetype: { name: 'none' }, preference: { name: 'none', kind: 'Cake' } }),
    WORLD,
  );
  expect(verdict).toEqual({
    allowed: true,
    warnings: [
      'spec.instancetype: there is no VirtualMachineClusterInstancetype none: create it',
      expect.stringMatching(/^spec.preference: there is no kind Cake/),
    ],
  });
});

test('a VM is judged by the copy that it keeps', async () => {
  const status = { instancetypeRef: { name: 'small', controllerRevisionRef: { name: 'kept' } } };
  const data = { spec: { cpu: { guest: 2, isolateEmulatorThread: true }, memory: { guest: '1Gi' } } };
  const world = { ...WORLD, ControllerRevision: [{ metadata: { namespace: 'shop', name: 'kept' }, data }] };
  const request = vm({ instancetype: { name: 'small' } }, {}, { status });
  expect(causesOf(await ask(VALIDATE, request, world))).toHaveLength(1);
});

test('architecture, machine and storage class of a preference are settled', async () => {
  const dataVolumeTemplates = [{ metadata: { name: 'd' }, spec: { storage: {} } }];
  const verdict = await ask(MUTATE, vm({ preference: { name: 'arm' }, dataVolumeTemplates }), WORLD);
  expect(verdict).toMatchObject({
    allowed: true,
    patch: [
      { path: '/metadata' },
      {
        path: '/spec',
        value: {
          preference: { name: 'arm' },
          dataVolumeTemplates: [{ spec: { storage: { storageClassName: 'fast' } } }],
          template: { spec: { architecture: 'arm64', domain: { machine: { type: 'virt-8' } } } },
        },
      },
    ],
  });
});

test('a volume says which instance type, or the VM is refused', async () => {
  const template = { volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'disk' } }] };
  const labels = { 'instancetype.kubevirt.io/default-instancetype': 'small' };
  const claim = { metadata: { namespace: 'shop', name: 'disk', labels } };
  const given = vm({ instancetype: { inferFromVolume: 'root' } }, template);
  expect(await ask(MUTATE, given, { PersistentVolumeClaim: [claim] })).toMatchObject({
    patch: expect.arrayContaining([
      expect.objectContaining({ value: expect.objectContaining({ instancetype: { name: 'small' } }) }),
    ]),
  });
  expect(causesOf(await ask(MUTATE, given))).toEqual(['FieldValueInvalid spec.instancetype.inferFromVolume']);
});

test('a reference that is no good is left to validation', async () => {
  const given = vm({ instancetype: { name: 'small', inferFromVolume: 'root' } });
  expect(await ask(MUTATE, given)).toMatchObject({ allowed: true });
  expect(causesOf(await ask(VALIDATE, given, WORLD))).toContain('FieldValueNotSupported spec.instancetype.name');
});

test.each([
  ['/validate/instancetypes', SMALL, []],
  [
    '/validate/instancetypes',
    { ...SMALL, spec: { cpu: { guest: 1 }, memory: { guest: '1Gi', overcommitPercent: 200 } } },
    ['FieldValueInvalid spec.memory.overcommitPercent'],
  ],
  [
    '/validate/instancetypes',
    { metadata: { name: 'a' }, spec: { cpu: { guest: 1 } } },
    ['FieldValueRequired spec.memory'],
  ],
  [
    '/validate/instancetypes',
    { metadata: { name: 'a' }, spec: { cpu: {}, memory: { guest: 'much' } } },
    ['FieldValueRequired spec.cpu.guest', 'FieldValueInvalid spec.memory.guest'],
  ],
  ['/validate/preferences', { metadata: { name: 'a' }, spec: {} }, []],
  [
    '/validate/preferences',
    { metadata: { name: 'a' }, spec: { cpu: { preferredCPUTopology: 'rings' } } },
    ['FieldValueInvalid spec.cpu.preferredCPUTopology'],
  ],
])('%s of %j', async (path, object, causes) => {
  expect(causesOf(await ask(path, object))).toEqual(causes);
});

test('what is deprecated is a warning', async () => {
  const object = { metadata: { name: 'a' }, spec: { cpu: { preferredCPUTopology: 'preferCores' } } };
  expect(await ask('/validate/preferences', object)).toEqual({
    allowed: true,
    warnings: ['spec.cpu.preferredCPUTopology: deprecated: write cores'],
  });
});
