import { expect, test } from '@jest/globals';
import { guestNameCauses, workableRules } from '../../../../api/validation/workable.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain, short } from './told.ts';

const V0 = 'spec.volumes[0]';
const volume = (source: object, name = 'a'): object => ({ volumes: [{ name, ...source }] });

test.each<[string, object, object, string[]]>([
  [
    'a negative grace period',
    {},
    { terminationGracePeriodSeconds: -1 },
    ['Invalid spec.terminationGracePeriodSeconds'],
  ],
  [
    'pages of no size',
    { memory: { guest: '1Gi', hugepages: { pageSize: '0' } } },
    {},
    ['Invalid spec.domain.memory.hugepages.pageSize'],
  ],
  [
    'pages of a negative size',
    { memory: { guest: '1Gi', hugepages: { pageSize: '-2Mi' } } },
    {},
    ['Invalid spec.domain.memory.hugepages.pageSize'],
  ],
  ['no room for firmware', { memory: { guest: '1k' } }, {}, ['Invalid spec.domain.memory.guest']],
  [
    'less than no device',
    { resources: { limits: { 'v.test/d': '-1' } } },
    {},
    ['Invalid spec.domain.resources.limits.v.test/d'],
  ],
  ['a volume’s name too long', {}, volume({ configMap: { name: 'm' } }, 'a'.repeat(58)), [`Invalid ${V0}.name`]],
  ['a name of the Pod’s own', {}, volume({ configMap: { name: 'm' } }, 'sockets'), [`Invalid ${V0}.name`]],
  [
    'the name of its launcher’s image',
    {},
    volume({ emptyDisk: { capacity: '1' } }, 'launcher-volume'),
    [`Invalid ${V0}.name`],
  ],
  ['no image', {}, volume({ containerDisk: {} }), [`Required ${V0}.containerDisk.image`]],
  [
    'no claim',
    {},
    volume({ persistentVolumeClaim: { claimName: '' } }),
    [`Required ${V0}.persistentVolumeClaim.claimName`],
  ],
  ['no claim below', {}, volume({ ephemeral: {} }), [`Required ${V0}.ephemeral.persistentVolumeClaim.claimName`]],
  ['an empty disk of nothing', {}, volume({ emptyDisk: { capacity: '0' } }), [`Invalid ${V0}.emptyDisk.capacity`]],
  ['a relative path', {}, volume({ hostDisk: { path: 'a.img', type: 'Disk' } }), [`Invalid ${V0}.hostDisk.path`]],
  [
    'an image to be made of no size',
    {},
    volume({ hostDisk: { path: '/a', type: 'DiskOrCreate' } }),
    [`Required ${V0}.hostDisk.capacity`],
  ],
])('%s', (_, domain, spec, expected) => {
  expect(ofDomain(workableRules, domain, spec)).toEqual(expected);
});

test('the name of an image that a container holds leaves room for a suffix', () => {
  const disk = volume({ containerDisk: { image: 'r.test/a' } }, 'a'.repeat(53));
  expect(ofDomain(workableRules, {}, disk)).toEqual([]);
  expect(ofDomain(workableRules, {}, disk, gated([], ['ImageVolume']))).toEqual([`Invalid ${V0}.name`]);
});

test('a name leaves room for the guest’s files', () => {
  const named = (length: number): string[] => short(guestNameCauses({ namespace: 'shop', name: 'a'.repeat(length) }));
  expect(named(195)).toEqual([]);
  expect(named(196)).toEqual(['Invalid metadata.name']);
});
