import { expect, test } from '@jest/globals';
import { volumeRules, volumesAreUsed } from '../../../../api/validation/volumes.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain, told } from './told.ts';

const V0 = 'Invalid spec.volumes[0]';
const containerDisk = { image: 'r.test/os:1' };
const hostDisk = { path: '/srv/a.img', type: 'Disk' };

test.each<[string, object[], string[]]>([
  ['an image', [{ name: 'a', containerDisk: { ...containerDisk, path: '/disk/a.img' } }], []],
  ['no source', [{ name: 'a' }], [V0]],
  ['an unknown source', [{ name: 'a', floppy: {} }], [V0]],
  ['two sources', [{ name: 'a', containerDisk, emptyDisk: { capacity: '1Gi' } }], [V0]],
  [
    'one name twice',
    [
      { name: 'a', containerDisk },
      { name: 'a', containerDisk },
    ],
    ['Invalid spec.volumes[1].name'],
  ],
  ['a path upwards', [{ name: 'a', containerDisk: { ...containerDisk, path: '/a/../b' } }], [`${V0}.containerDisk`]],
  ['the root as path', [{ name: 'a', containerDisk: { ...containerDisk, path: '/' } }], [`${V0}.containerDisk`]],
  ['a nameless DataVolume', [{ name: 'a', dataVolume: { name: '' } }], ['Required spec.volumes[0].name']],
  ['a nameless ConfigMap', [{ name: 'a', configMap: {} }], [`${V0}.configMap.name`]],
  ['a nameless Secret', [{ name: 'a', secret: {} }], [`${V0}.secret.secretName`]],
  ['a nameless account', [{ name: 'a', serviceAccount: {} }], [`${V0}.serviceAccount.serviceAccountName`]],
  [
    'two accounts',
    ['a', 'b'].map((name) => ({ name, serviceAccount: { serviceAccountName: 's' } })),
    ['Invalid spec.volumes'],
  ],
  ['two dumps', ['a', 'b'].map((name) => ({ name, memoryDump: { claimName: 'c' } })), ['Invalid spec.volumes']],
  ['an image that exists', [{ name: 'a', hostDisk }], []],
  ['no path', [{ name: 'a', hostDisk: { type: 'Disk' } }], ['NotFound spec.volumes[0].hostDisk.path']],
  ['an unknown type', [{ name: 'a', hostDisk: { ...hostDisk, type: 'Blob' } }], [`${V0}.hostDisk.type`]],
  [
    'a size for one that exists',
    [{ name: 'a', hostDisk: { ...hostDisk, capacity: '1Gi' } }],
    [`${V0}.hostDisk.capacity`],
  ],
])('%s', (_, volumes, expected) => {
  expect(told(volumeRules, { volumes }, gated(['HostDisk']))).toEqual(expected);
});

test.each<[string, object]>([
  ['HostDisk', { hostDisk }],
  ['DownwardMetrics', { downwardMetrics: {} }],
])('%s is a gate', (gate, source) => {
  const spec = { volumes: [{ name: 'a', ...source }] };
  expect(told(volumeRules, spec)).toEqual([V0]);
  expect(told(volumeRules, spec, gated([gate]))).toEqual([]);
});

test('utility volumes are plugged in later', () => {
  expect(told(volumeRules, { utilityVolumes: [{ name: 'u', claimName: 'c' }] })).toEqual([
    'Invalid spec.utilityVolumes',
  ]);
});

test('a volume is used, by a file system if it is a path', () => {
  const volumes = [
    { name: 'disk', containerDisk },
    { name: 'lost', containerDisk },
    { name: 'dump', memoryDump: { claimName: 'c' } },
    { name: 'path', containerPath: { path: '/srv' } },
    { name: 'shown', containerPath: { path: '/var/run/kubevirt/private' } },
  ];
  const devices = { disks: [{ name: 'disk' }, { name: 'path' }], filesystems: [{ name: 'shown', virtiofs: {} }] };
  expect(ofDomain(volumesAreUsed, { devices }, { volumes })).toEqual([
    'Invalid spec.domain.volumes[1].name',
    'Invalid spec.domain.volumes[3]',
    'Invalid spec.domain.volumes[3]',
    'Invalid spec.domain.volumes[4].containerPath.path',
  ]);
});
