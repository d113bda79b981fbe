import { expect, test } from '@jest/globals';
import { mountsBelow } from '../../../../deploy/local/mounts.ts';

const line = (point: string) => `36 35 98:0 / ${point} rw,noatime master:1 - ext4 /dev/root rw`;

test('only mounts at or below the directory are ours; the last one goes first; escaped characters are read', () => {
  const points = ['/', '/c', '/c/storage', '/c/storage/a\\040b', '/cache-of-others', '/x/c'];
  expect(mountsBelow(points.map(line).join('\n'), '/c')).toEqual(['/c/storage/a b', '/c/storage', '/c']);
});
