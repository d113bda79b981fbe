import { expect, test } from '@jest/globals';
import { volumeRequestCauses } from '../../../../api/validation/volume-requests.ts';
import { configured } from '../../../support/instances.ts';
import { short } from './told.ts';

const FIELD = 'Invalid Status.volumeRequests';
const volumeSource = { persistentVolumeClaim: { claimName: 'hot' } };
const add = (disk: object, name = 'hot'): object => ({
  addVolumeOptions: { name, disk: { name, ...disk }, volumeSource },
});
const remove = (name: string): object => ({ removeVolumeOptions: { name } });
const scsi = { disk: { bus: 'scsi' } };

const causes = (...volumeRequests: object[]): string[] => {
  const template = {
    domain: { devices: { disks: [{ name: 'os', disk: {} }] } },
    volumes: [{ name: 'os', containerDisk: { image: 'r.test/os:1' } }],
  };
  const vm = { metadata: { name: 'web' }, spec: { template: { spec: template } }, status: { volumeRequests } };
  return short(volumeRequestCauses(structuredClone(vm), configured()));
};

test.each<[string, object[], string[]]>([
  ['one that adds, one that removes', [add(scsi), remove('os')], []],
  ['a LUN', [add({ lun: { bus: 'scsi' } })], []],
  ['neither', [{}], [FIELD]],
  ['both', [{ ...add(scsi), ...remove('os') }], [FIELD]],
  ['one twice', [add(scsi), add(scsi)], [FIELD]],
  ['removed twice', [remove('os'), remove('os')], [FIELD]],
  ['of no kind', [add({})], [FIELD]],
  ['a disk by SATA', [add({ disk: { bus: 'sata' } })], [FIELD]],
  ['a LUN by virtio', [add({ lun: { bus: 'virtio' } })], [FIELD]],
  ['an IO thread by SCSI', [add({ ...scsi, dedicatedIOThread: true })], [FIELD]],
  ['another volume of that name', [add(scsi, 'os')], [FIELD]],
  [
    'with them, the template no longer holds',
    [add({ ...scsi, cache: 'unsafe' })],
    ['Invalid spec.template.spec.domain.devices.disks[1].cache'],
  ],
])('%s', (_, requests, expected) => {
  expect(causes(...requests)).toEqual(expected);
});
