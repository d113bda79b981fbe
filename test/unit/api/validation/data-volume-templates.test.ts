import { expect, test } from '@jest/globals';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';
import { dataVolumeTemplateCauses, namespaceCauses } from '../../../../api/validation/data-volume-templates.ts';
import { short } from './told.ts';

const T0 = 'spec.dataVolumeTemplate[0]';
const source = { http: { url: 'https://images.test/a' } };
const entry = (spec: object, metadata: object = { name: 'data' }): object => ({ metadata, spec });
const vm = (...dataVolumeTemplates: object[]): VirtualMachine => ({
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    dataVolumeTemplates: dataVolumeTemplates as NonNullable<VirtualMachine['spec']['dataVolumeTemplates']>,
    template: { spec: { domain: { devices: {} }, volumes: [{ name: 'v', dataVolume: { name: 'data' } }] } },
  },
});

test.each<[string, object, string[]]>([
  ['whole and used', entry({ storage: {}, source }), []],
  ['filled by its storage', entry({ storage: { dataSource: { kind: 'K', name: 'n' } } }), []],
  ['of no name', entry({ storage: {}, source }, {}), [`Required ${T0}.name`]],
  ['not used', entry({ storage: {}, source }, { name: 'other' }), [`Required ${T0}`]],
  ['of no storage', entry({ source }), [`Invalid ${T0}.PVC.Storage`]],
  ['of two storages', entry({ pvc: {}, storage: {}, source }), [`Invalid ${T0}.PVC.Storage`]],
  ['filled twice', entry({ pvc: { dataSourceRef: { kind: 'K', name: 'n' } }, source }), [`Invalid ${T0}.source`]],
  ['filled by nothing', entry({ storage: {} }), [`Invalid ${T0}.source.sourceRef`]],
  ['of an empty source', entry({ storage: {}, source: {} }), [`Invalid ${T0}.source`]],
  ['of two sources', entry({ storage: {}, source: { ...source, blank: {} } }), [`Invalid ${T0}.source`]],
  ['of a reference', entry({ storage: {}, sourceRef: { kind: 'DataSource', name: 'n' } }), []],
])('%s', (_, template, expected) => {
  expect(short(dataVolumeTemplateCauses(vm(template).spec))).toEqual(expected);
});

test('they are made beside their VM; old ones are left alone', () => {
  const elsewhere = vm(entry({}, { name: 'data', namespace: 'store' }));
  expect(short(namespaceCauses(elsewhere))).toEqual(['Invalid spec.dataVolumeTemplates[0]']);
  expect(namespaceCauses(elsewhere, elsewhere)).toEqual([]);
  expect(namespaceCauses(vm(entry({}, { name: 'data', namespace: 'shop' })))).toEqual([]);
});
