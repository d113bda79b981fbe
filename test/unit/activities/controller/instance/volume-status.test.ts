import { expect, test } from '@jest/globals';
import { volumeStatuses } from '../../../../../activities/controller/instance/volume-status.ts';
import type { VolumeStatus } from '../../../../../api/kubevirt/types.ts';
import { instance } from '../../../../support/instances.ts';

const vmi = (volumeStatus?: VolumeStatus[]) => ({
  ...instance({
    volumes: [
      { name: 'seed', cloudInitNoCloud: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'd' } },
      { name: 'over', ephemeral: { persistentVolumeClaim: { claimName: 'd' } } },
    ],
  }),
  ...(volumeStatus === undefined ? {} : { status: { volumeStatus } }),
});
const claims = {
  d: {
    metadata: { name: 'd', annotations: { 'cdi.kubevirt.io/storage.preallocation': 'true' } },
    spec: {
      ...{ accessModes: ['ReadWriteMany'], volumeMode: 'Filesystem' },
      resources: { requests: { storage: '1Gi' } },
    },
    status: { capacity: { storage: '2Gi' } },
  },
};
const info = {
  ...{ claimName: 'd', accessModes: ['ReadWriteMany'], volumeMode: 'Filesystem', capacity: { storage: '2Gi' } },
  ...{ requests: { storage: '1Gi' }, preallocated: true, filesystemOverhead: '0.055' },
};

test('every volume by name, with what its claim is like; one below an overlay is not the guest’s', () => {
  expect(volumeStatuses(vmi(), { claims })).toEqual([
    { name: 'data', target: '', persistentVolumeClaimInfo: info },
    { name: 'over', target: '' },
    { name: 'seed', target: '' },
  ]);
});

test('names in the guest and sizes of images that the launcher made, once there is a domain', () => {
  const hardware = { disks: { data: { target: 'vdb' }, seed: { target: 'sda', size: 374784 } } };
  expect(volumeStatuses(vmi(), { hardware })).toEqual([
    { name: 'data', target: 'vdb' },
    { name: 'over', target: '' },
    { name: 'seed', target: 'sda', size: 374784 },
  ]);
});

test('what is not looked at now stays, and so do plugged volumes', () => {
  const plugged = { name: 'late', target: 'sdb', phase: 'Ready', hotplugVolume: { attachPodName: 'hp' } };
  const before = volumeStatuses(vmi(), { claims, hardware: { disks: { data: { target: 'vdb' } } } });
  expect(volumeStatuses(vmi([plugged, ...before]), {})).toEqual([before[0], plugged, before[1], before[2]]);
});

test('a volume that is gone from the spec has no status', () => {
  expect(volumeStatuses(vmi([{ name: 'gone', target: 'vdz' }]), {}).map(({ name }) => name)).not.toContain('gone');
});
