import { expect, test } from '@jest/globals';
import { diskRules } from '../../../../api/validation/disks.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const D0 = 'Invalid spec.domain.devices.disks[0]';
const volumes = [
  { name: 'a', containerDisk: { image: 'r.test/os:1' } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
  { name: 'metrics', downwardMetrics: {} },
];
const one = (disk: object, config = gated([])): string[] =>
  ofDomain(diskRules, { devices: { disks: [{ name: 'a', ...disk }] } }, { volumes }, config);

test.each<[string, object, string[]]>([
  [
    'a disk',
    { disk: { bus: 'virtio' }, serial: 'A_1.+-', cache: 'writeback', io: 'threads', errorPolicy: 'enospace' },
    [],
  ],
  ['of no kind', {}, []],
  ['two kinds', { disk: {}, cdrom: {} }, [D0]],
  ['no volume', { name: 'b', disk: {} }, [`${D0}.name`]],
  ['an empty drive', { name: 'b', cdrom: {} }, []],
  ['a LUN on an image', { lun: { bus: 'scsi' } }, [`${D0}.lun`]],
  ['a LUN on a claim', { name: 'claim', lun: { bus: 'scsi' } }, []],
  ['metrics by a CD-ROM', { name: 'metrics', cdrom: {} }, ['Required spec.domain.devices.disks[0].disk']],
  ['metrics by SATA', { name: 'metrics', disk: { bus: 'sata' } }, [`${D0}.disk.bus`]],
  ['an unknown bus', { disk: { bus: 'ide' } }, [`${D0}.disk.bus`]],
  ['a CD-ROM by virtio', { cdrom: { bus: 'virtio' } }, [`${D0}.cdrom.bus`]],
  ['a read-only disk by SATA', { disk: { bus: 'sata', readonly: true } }, [`${D0}.disk.bus`]],
  [
    'an IO thread by SATA',
    { disk: { bus: 'sata' }, dedicatedIOThread: true },
    ['NotSupported spec.domain.devices.disks[0]'],
  ],
  ['a PCI address', { disk: { bus: 'virtio', pciAddress: '0000:81:01.0' } }, []],
  ['a PCI address by SATA', { disk: { bus: 'sata', pciAddress: '0000:81:01.0' } }, [`${D0}.disk.pciAddress`]],
  ['no PCI address', { disk: { bus: 'virtio', pciAddress: '5:0' } }, [`${D0}.disk.pciAddress`]],
  ['a boot order of zero', { bootOrder: 0 }, [`${D0}.bootOrder`]],
  ['a serial with blanks', { serial: 'a b' }, [`${D0}.serial`]],
  ['a serial too long', { serial: 'x'.repeat(257) }, [`${D0}.serial`]],
  ['an unknown cache', { cache: 'unsafe' }, [`${D0}.cache`]],
  ['an unknown IO mode', { io: 'uring' }, ['NotSupported spec.domain.devices.disks[0].io']],
  ['an unknown error policy', { errorPolicy: 'retry' }, [`${D0}.errorPolicy`]],
])('%s', (_, disk, expected) => {
  expect(one(disk)).toEqual(expected);
});

test('an empty drive has a gate', () => {
  expect(one({ name: 'b', cdrom: {} }, gated([], ['DeclarativeHotplugVolumes']))).toEqual([`${D0}.name`]);
});

test('names are unique, and names of containers', () => {
  const disks = [{ name: 'a' }, { name: 'a' }, { name: 'A.b', cdrom: {} }];
  expect(ofDomain(diskRules, { devices: { disks } }, { volumes })).toEqual([
    'Invalid spec.domain.devices.disks[1].name',
    'Invalid spec.domain.devices.disks[2].name',
  ]);
});

test('the boot order is one over disks and interfaces', () => {
  const devices = {
    disks: [{ name: 'a', bootOrder: 1 }],
    interfaces: [
      { name: 'n', bootOrder: 1 },
      { name: 'm', bootOrder: 0 },
    ],
  };
  expect(ofDomain(diskRules, { devices }, { volumes })).toEqual([
    'Invalid spec.domain.devices.interfaces[0].bootOrder',
    'Invalid spec.domain.devices.interfaces[1].bootOrder',
  ]);
});
