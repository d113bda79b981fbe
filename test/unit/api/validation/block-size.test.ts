import { expect, test } from '@jest/globals';
import { blockSizeCauses } from '../../../../api/validation/block-size.ts';
import { short } from './told.ts';

const custom = (logical: number, physical: number, discardGranularity?: number): object => ({
  custom: { logical, physical, ...(discardGranularity === undefined ? {} : { discardGranularity }) },
});

test.each<[string, object, string, string[]]>([
  ['powers of two', custom(512, 4096, 1024), 'virtio', []],
  ['the volume’s own', { matchVolume: {} }, 'virtio', []],
  ['both', { ...custom(512, 512), matchVolume: {} }, 'virtio', ['Invalid d.blockSize']],
  ['custom, the volume’s own off', { ...custom(512, 512), matchVolume: { enabled: false } }, 'virtio', []],
  ['logical above physical', custom(4096, 512), 'virtio', ['Invalid d.blockSize.custom.logical']],
  ['4 KiB by SATA', custom(4096, 4096), 'sata', ['Invalid d.blockSize.custom.logical']],
  ['discards of no whole blocks', custom(512, 512, 700), 'virtio', ['Invalid d.blockSize.custom.discardGranularity']],
  ['too small', custom(128, 512), 'virtio', ['Invalid d.blockSize.custom.logical']],
  ['too large', custom(512, 2 ** 22), 'virtio', ['Invalid d.blockSize.custom.physical']],
  [
    'no power of two',
    custom(1000, 1000),
    'virtio',
    ['Invalid d.blockSize.custom.logical', 'Invalid d.blockSize.custom.physical'],
  ],
])('%s', (_, blockSize, bus, expected) => {
  expect(short(blockSizeCauses({ name: 'a', disk: { bus }, blockSize }, 'd'))).toEqual(expected);
});
