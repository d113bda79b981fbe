import { expect, test } from '@jest/globals';
import { withDiskModes } from '../../../../launcher/converter/disk-modes.ts';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { host, withDisks } from './examples.ts';

const virtio = { name: 'a', disk: { bus: 'virtio' } };

interface Row {
  disk: typeof virtio;
  block: boolean;
  directIo: boolean;
  preallocated: boolean;
  cache: string;
  io: string | undefined;
}

test.each`
  disk                                 | block    | directIo | preallocated | cache             | io
  ${virtio}                            | ${false} | ${true}  | ${false}     | ${'none'}         | ${undefined}
  ${virtio}                            | ${false} | ${true}  | ${true}      | ${'none'}         | ${'native'}
  ${virtio}                            | ${false} | ${false} | ${true}      | ${'writethrough'} | ${undefined}
  ${virtio}                            | ${true}  | ${true}  | ${false}     | ${'none'}         | ${'native'}
  ${{ ...virtio, io: 'threads' }}      | ${true}  | ${true}  | ${false}     | ${'none'}         | ${'threads'}
  ${{ ...virtio, cache: 'writeback' }} | ${true}  | ${true}  | ${true}      | ${'writeback'}    | ${undefined}
`('block $block, direct IO $directIo, preallocated $preallocated: cache $cache, io $io', (row) => {
  const { disk, block, directIo, preallocated, cache, io } = row as Row;
  const domain = toDomain(withDisks([disk]), host({ isBlockVolume: { a: block } }));
  const [tuned] =
    withDiskModes(domain, { directIo: () => directIo, preallocated: () => preallocated }).devices.disk ?? [];
  expect([tuned?.driver['@cache'], tuned?.driver['@io']]).toEqual([cache, io]);
});

test('direct IO needs it of the image below an overlay too', () => {
  const instance = withDisks([virtio], [{ name: 'a', containerDisk: { image: 'x' } }]);
  const domain = toDomain(instance, host({ backingFormats: { a: 'qcow2' } }));
  const asked: string[] = [];
  const directIo = (path: string) => asked.push(path) === 1;
  const [tuned] = withDiskModes(domain, { directIo, preallocated: () => false }).devices.disk ?? [];
  expect([asked.length, tuned?.driver['@cache']]).toEqual([2, 'writethrough']);
});

test('an empty tray is left alone', () => {
  const domain = toDomain(withDisks([{ name: 'a', cdrom: { bus: 'sata' } }], []), host());
  const [tuned] = withDiskModes(domain, { directIo: () => true, preallocated: () => true }).devices.disk ?? [];
  expect(tuned).toEqual(domain.devices.disk?.[0]);
});
