import { expect, test } from '@jest/globals';
import type { VirtualMachineSpec } from '../../../../api/kubevirt/types.ts';
import { choiceRules, dataVolumeChoices } from '../../../../api/validation/choices.ts';
import { short, told } from './told.ts';

const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };

test.each<[string, object, string[]]>([
  [
    'known ones',
    { tolerations: [{ operator: 'Exists', effect: 'NoExecute' }], readinessProbe: { httpGet: { scheme: 'HTTPS' } } },
    [],
  ],
  [
    'operators and effects',
    { tolerations: [{ operator: 'Like', effect: 'Maybe' }] },
    ['NotSupported spec.tolerations[0].operator', 'NotSupported spec.tolerations[0].effect'],
  ],
  [
    'policies of spreading',
    { topologySpreadConstraints: [{ ...spread, nodeTaintsPolicy: 'Obey' }] },
    ['NotSupported spec.topologySpreadConstraints[0].nodeTaintsPolicy'],
  ],
  [
    'schemes of probes',
    { livenessProbe: { httpGet: { scheme: 'gopher' } } },
    ['NotSupported spec.livenessProbe.httpGet.scheme'],
  ],
  [
    'pull policies',
    { volumes: [{ name: 'a', containerDisk: { image: 'i', imagePullPolicy: 'Often' } }] },
    ['NotSupported spec.volumes[0].containerDisk.imagePullPolicy'],
  ],
])('%s', (_, spec, expected) => {
  expect(told(choiceRules, spec)).toEqual(expected);
});

test('access and volume modes of DataVolumes', () => {
  const storage = { accessModes: ['ReadWriteOnce', 'Mine'], volumeMode: 'Tape' };
  // The type lists the modes; a user may write any.
  const given = { dataVolumeTemplates: [{ spec: { storage } }], template: {} } as unknown as VirtualMachineSpec;
  expect(short(dataVolumeChoices(given))).toEqual([
    'NotSupported spec.dataVolumeTemplates[0].spec.storage.accessModes[1]',
    'NotSupported spec.dataVolumeTemplates[0].spec.storage.volumeMode',
  ]);
});
