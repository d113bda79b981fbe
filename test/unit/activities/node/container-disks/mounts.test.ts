import { expect, test } from '@jest/globals';
import { parseMountInfo } from '../../../../../activities/node/container-disks/mounts.ts';

test('reads root and mount point of each line, octal escapes decoded', () => {
  const text = [
    '36 35 98:0 / /pods rw,noatime shared:1 - ext4 /dev/root rw',
    '37 36 98:0 /cache/a\\040b/disk.img /pods/x/disk\\134.img ro - ext4 /dev/root rw',
    '',
  ].join('\n');
  expect(parseMountInfo(text)).toEqual([
    { root: '/', target: '/pods' },
    { root: '/cache/a b/disk.img', target: '/pods/x/disk\\.img' },
  ]);
});
