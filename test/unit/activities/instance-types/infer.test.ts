import { expect, test } from '@jest/globals';
import { inferReferences } from '../../../../activities/instance-types/infer.ts';
import type { Kinds } from '../../../../activities/kube/port.ts';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';
import { reading } from '../../../support/objects.ts';

const NAMES = {
  'instancetype.kubevirt.io/default-instancetype': 'small',
  'instancetype.kubevirt.io/default-preference': 'linux',
};
const KINDS = { 'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype' };
const object = (name: string, labels: object = {}, rest: object = {}, namespace = 'shop') => ({
  metadata: { namespace, name, labels },
  ...rest,
});

const vm = (volume: object, more: object = {}, policy?: string): VirtualMachine => {
  const matcher = {
    inferFromVolume: 'root',
    ...(policy === undefined ? {} : { inferFromVolumeFailurePolicy: policy }),
  };
  return {
    metadata: { namespace: 'shop', name: 'web' },
    spec: {
      ...{ runStrategy: 'Halted', instancetype: matcher, preference: matcher, ...more },
      template: { spec: { domain: { devices: {}, memory: { guest: '1Gi' } }, volumes: [{ name: 'root', ...volume }] } },
    },
  };
};
const CLAIM = { persistentVolumeClaim: { claimName: 'disk' } };
const DATA_VOLUME = { dataVolume: { name: 'disk' } };
const fromPvc = { source: { pvc: { name: 'golden', namespace: 'images' } } };
const fromSnapshot = { source: { snapshot: { name: 'golden', namespace: 'images' } } };
const fromSource = { sourceRef: { kind: 'DataSource', name: 'fedora' } };
const template = (spec: object) => ({ dataVolumeTemplates: [{ metadata: { name: 'disk' }, spec }] });

type World = { [K in keyof Kinds]?: object[] };

test.each<[string, VirtualMachine, World]>([
  ['a claim', vm(CLAIM), { PersistentVolumeClaim: [object('disk', NAMES)] }],
  ['a DataVolume', vm(DATA_VOLUME), { DataVolume: [object('disk', NAMES)] }],
  ['the claim of a DataVolume that is gone', vm(DATA_VOLUME), { PersistentVolumeClaim: [object('disk', NAMES)] }],
  [
    'the claim that a DataVolume copies',
    vm(DATA_VOLUME),
    {
      DataVolume: [object('disk', {}, { spec: fromPvc })],
      PersistentVolumeClaim: [object('golden', NAMES, {}, 'images')],
    },
  ],
  [
    'the claim that a template copies',
    vm(DATA_VOLUME, template(fromPvc)),
    { PersistentVolumeClaim: [object('golden', NAMES, {}, 'images')] },
  ],
  [
    'the snapshot that a template copies',
    vm(DATA_VOLUME, template(fromSnapshot)),
    { VolumeSnapshot: [object('golden', NAMES, {}, 'images')] },
  ],
  ['the DataSource of a template', vm(DATA_VOLUME, template(fromSource)), { DataSource: [object('fedora', NAMES)] }],
  [
    'the claim behind a DataSource',
    vm(DATA_VOLUME, template(fromSource)),
    {
      DataSource: [object('fedora', {}, { spec: fromPvc })],
      PersistentVolumeClaim: [object('golden', NAMES, {}, 'images')],
    },
  ],
  [
    'the snapshot behind a DataSource',
    vm(DATA_VOLUME, template({ sourceRef: { ...fromSource.sourceRef, namespace: 'images' } })),
    {
      DataSource: [object('fedora', {}, { spec: fromSnapshot }, 'images')],
      VolumeSnapshot: [object('golden', NAMES, {}, 'images')],
    },
  ],
])('what it is for says %s', async (_, given, world) => {
  const { vm: inferred } = (await inferReferences(reading(world), given)) as { vm: VirtualMachine };
  expect(inferred.spec).toMatchObject({ instancetype: { name: 'small' }, preference: { name: 'linux' } });
  expect(inferred.spec.instancetype).toEqual({ name: 'small' });
});

test('a kind is told by another label', async () => {
  const world = { PersistentVolumeClaim: [object('disk', { ...NAMES, ...KINDS })] };
  const { vm: inferred } = (await inferReferences(reading(world), vm(CLAIM))) as { vm: VirtualMachine };
  expect(inferred.spec.instancetype).toEqual({ name: 'small', kind: 'VirtualMachineInstancetype' });
});

test.each<[string, VirtualMachine, World, RegExp, boolean]>([
  [
    'a claim without labels',
    vm(CLAIM),
    { PersistentVolumeClaim: [object('disk')] },
    /shop\/disk: label .*default-instancetype is not there/,
    true,
  ],
  ['a volume of another kind', vm({ containerDisk: { image: 'a' } }), {}, /neither a claim nor a DataVolume/, true],
  [
    'a template that is filled otherwise',
    vm(DATA_VOLUME, template({ source: { blank: {} } })),
    {},
    /what fills the volume/,
    true,
  ],
  [
    'a reference of another kind',
    vm(DATA_VOLUME, template({ sourceRef: { kind: 'Other', name: 'x' } })),
    {},
    /nothing is known of Other x/,
    true,
  ],
  [
    'a DataSource of nothing',
    vm(DATA_VOLUME, template(fromSource)),
    { DataSource: [object('fedora', {}, { spec: { source: {} } })] },
    /no claim or snapshot/,
    true,
  ],
  ['a claim that is not there', vm(CLAIM), {}, /there is no PersistentVolumeClaim shop\/disk/, false],
  [
    'a DataSource that is not there',
    vm(DATA_VOLUME, template(fromSource)),
    {},
    /there is no DataSource shop\/fedora/,
    false,
  ],
  ['no such volume', vm(CLAIM, { instancetype: { inferFromVolume: 'other' } }), {}, /there is no volume other/, false],
])('%s does not say it', async (_, given, world, message, isIgnorable) => {
  const { problem } = (await inferReferences(reading(world), given)) as { problem: object };
  expect(problem).toEqual({ field: 'instancetype', message: expect.stringMatching(message), isIgnorable });
});

test('who does not mind gets neither, and what the template says', async () => {
  const given = vm(CLAIM, {}, 'Ignore');
  const world = { PersistentVolumeClaim: [object('disk')] };
  const { vm: inferred } = (await inferReferences(reading(world), given)) as { vm: VirtualMachine };
  expect(inferred.spec).not.toHaveProperty('instancetype');
  expect(inferred.spec).not.toHaveProperty('preference');
  expect(inferred.spec.template.spec?.domain.memory).toEqual({ guest: '1Gi' });
  // What is wrong stays wrong.
  expect(await inferReferences(reading({}), given)).toMatchObject({ problem: { isIgnorable: false } });
});

test('memory for the case that nothing is found makes room for the instance type', async () => {
  const world = { PersistentVolumeClaim: [object('disk', NAMES)] };
  const { vm: inferred } = (await inferReferences(reading(world), vm(CLAIM, {}, 'Ignore'))) as { vm: VirtualMachine };
  expect(inferred.spec.template.spec?.domain).toEqual({ devices: {} });
});

test('a VM that names what it is stays as it is', async () => {
  const given = vm(CLAIM, { instancetype: { name: 'a' }, preference: undefined });
  expect(await inferReferences(reading({}), given)).toEqual({ vm: given });
});
