import { expect, test } from '@jest/globals';
import { diskFiles } from '../../../../../activities/node/volumes/disk-files.ts';
import type { PersistentVolumeClaim } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance, Volume } from '../../../../../api/kubevirt/types.ts';

const MIB = 1024 * 1024;

const filesOf = (volume: Omit<Volume, 'name'>, claim?: PersistentVolumeClaim): ReturnType<typeof diskFiles> => {
  const vmi = { spec: { domain: { devices: {} }, volumes: [{ name: 'v', ...volume }] } } as VirtualMachineInstance;
  return diskFiles(vmi, claim === undefined ? {} : { v: claim });
};

const claim = (over: PersistentVolumeClaim['spec'] = {}, capacity?: string): PersistentVolumeClaim => ({
  spec: { resources: { requests: { storage: '10Mi' } }, ...over },
  ...(capacity === undefined ? {} : { status: { capacity: { storage: capacity } } }),
});

const inClaim = { volume: 'v', directory: '/var/run/kubevirt-private/vmi-disks/v', file: 'disk.img' };
const byClaim = { persistentVolumeClaim: { claimName: 'c' } };

test.each<[string, ReturnType<typeof filesOf>, object[]]>([
  ['a claim has the size that it got', filesOf(byClaim, claim({}, '16Mi')), [{ ...inClaim, createBytes: 16 * MIB }]],
  ['else the one that was asked for', filesOf(byClaim, claim()), [{ ...inClaim, createBytes: 10 * MIB }]],
  ['a DataVolume is its claim', filesOf({ dataVolume: { name: 'c' } }, claim()), [inClaim]],
  ['a claim in block mode has no file', filesOf(byClaim, claim({ volumeMode: 'Block' })), []],
  [
    'an ephemeral volume is read only',
    filesOf({ ephemeral: { persistentVolumeClaim: { claimName: 'c' } } }, claim()),
    [],
  ],
  ['a containerDisk is no matter of volumes', filesOf({ containerDisk: { image: 'i' } }), []],
  [
    'a hostDisk that may be made',
    filesOf({ hostDisk: { path: '/data/a.img', type: 'DiskOrCreate', capacity: '1Gi' } }),
    [{ ...inClaim, field: 'spec.volumes[0].hostDisk', file: 'a.img', createBytes: 1024 * MIB }],
  ],
])('%s', (_, found, expected) => {
  expect(found).toMatchObject(expected);
  expect(found).toHaveLength(expected.length);
});

test('a hostDisk that must be there is not made', () => {
  const [file] = filesOf({ hostDisk: { path: '/data/a.img', type: 'Disk', capacity: '1Gi' } });
  expect(file).not.toHaveProperty('createBytes');
});
