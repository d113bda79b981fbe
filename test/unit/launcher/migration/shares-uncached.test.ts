import { expect, test } from '@jest/globals';
import { sharesUncached } from '../../../../launcher/migration/domain-xml.ts';

const disk = (target: string, file: string, driver: string, more = ''): string =>
  `<disk type='file' device='disk'><driver name='qemu' type='raw' ${driver}/><source file='${file}' index='1'/>` +
  `<target dev='${target}' bus='virtio'/>${more}<alias name='ua-${target}'/></disk>`;
const CLAIM = '/var/run/kubevirt-private/vmi-disks/data/disk.img';
const OVERLAY = '/var/run/kubevirt-ephemeral-disks/root.qcow2';

test.each([
  ['no disk', '', true],
  ['a shared disk that no host caches', disk('vda', CLAIM, "cache='none'"), true],
  [
    'a shared disk written through to its host, and read from its cache',
    disk('vda', CLAIM, "cache='writethrough'"),
    false,
  ],
  ['a shared disk of unknown cache mode', disk('vda', CLAIM, ''), false],
  ['a disk that is copied, whatever its cache', disk('vda', OVERLAY, "cache='writeback'"), true],
  ['a disk that nobody writes', disk('vda', CLAIM, "cache='writeback'", '<readonly/>'), true],
  ['one of two', disk('vda', CLAIM, "cache='none'") + disk('vdb', CLAIM, "cache='writeback'"), false],
])('%s', (_, disks, expected) => {
  expect(sharesUncached(`<domain><devices>${disks}</devices></domain>`)).toBe(expected);
});
