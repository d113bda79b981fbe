import { expect, test } from '@jest/globals';
import type { ReferenceField } from '../../../../api/instancetypes/index.ts';
import {
  kindOf,
  revisionOf,
  statusReference,
  storedRevision,
  withRevisions,
} from '../../../../api/instancetypes/index.ts';
import { referenceAnnotations } from '../../../../api/instancetypes/references.ts';
import { instancetype, vm } from './samples.ts';

test.each<[ReferenceField, string | undefined, string | undefined]>([
  ['instancetype', undefined, 'VirtualMachineClusterInstancetype'],
  ['instancetype', 'virtualmachineinstancetypes', 'VirtualMachineInstancetype'],
  ['instancetype', 'VirtualMachineClusterInstancetype', 'VirtualMachineClusterInstancetype'],
  ['instancetype', 'VirtualMachinePreference', undefined],
  ['preference', '', 'VirtualMachineClusterPreference'],
  ['preference', 'VirtualMachinePreference', 'VirtualMachinePreference'],
])('%s of kind "%s" is a %s', (field, kind, expected) => {
  expect(kindOf(field, kind === undefined ? {} : { kind })).toBe(expected);
});

test('a revision is named, labelled and filled as KubeVirt does it', () => {
  const metadata = {
    name: 'small',
    uid: 't1',
    generation: 3,
    labels: { a: 'b' },
    resourceVersion: '7',
    managedFields: [],
  };
  const spec = instancetype();
  expect(revisionOf(vm(), 'VirtualMachineClusterInstancetype', { metadata, spec })).toMatchObject({
    metadata: {
      name: 'web-small-v1beta1-t1-3',
      namespace: 'shop',
      labels: {
        'instancetype.kubevirt.io/object-generation': '3',
        'instancetype.kubevirt.io/object-kind': 'VirtualMachineClusterInstancetype',
        'instancetype.kubevirt.io/object-name': 'small',
        'instancetype.kubevirt.io/object-uid': 't1',
        'instancetype.kubevirt.io/object-version': 'v1beta1',
      },
    },
    data: {
      apiVersion: 'instancetype.kubevirt.io/v1beta1',
      kind: 'VirtualMachineClusterInstancetype',
      metadata: { name: 'small', uid: 't1', generation: 3, resourceVersion: '7' },
      spec,
    },
  });
});

const stored = (instancetypeRef: object) => ({ ...vm(), status: { instancetypeRef } });

test.each([
  ['the same', { name: 'small', controllerRevisionRef: { name: 'r' } }, 'r'],
  [
    'the same kind in other words',
    { name: 'small', kind: 'virtualmachineclusterinstancetype', controllerRevisionRef: { name: 'r' } },
    'r',
  ],
  ['another name', { name: 'large', controllerRevisionRef: { name: 'r' } }, undefined],
  [
    'another kind',
    { name: 'small', kind: 'VirtualMachineInstancetype', controllerRevisionRef: { name: 'r' } },
    undefined,
  ],
  ['no copy', { name: 'small' }, undefined],
])('a status that speaks of %s', (_, reference, revision) => {
  expect(storedRevision(stored(reference), 'instancetype')).toBe(revision);
});

test('a reference is known again by what the status says of it', () => {
  const known = stored(statusReference({ name: 'small' }, 'r'));
  expect(storedRevision(known, 'instancetype')).toBe('r');
  expect(withRevisions(known)).toMatchObject({ instancetype: { name: 'small', revisionName: 'r' } });
  expect(withRevisions(vm())).toEqual(vm().spec);
});

test('the VMI is annotated with the names', () => {
  const spec = vm({}, {}, { preference: { name: 'linux', kind: 'VirtualMachinePreference' } }).spec;
  expect(referenceAnnotations(spec)).toEqual({
    'kubevirt.io/cluster-instancetype-name': 'small',
    'kubevirt.io/preference-name': 'linux',
  });
});
