import { expect, test } from '@jest/globals';
import { withDiskModes } from '../../../../launcher/converter/disk-modes.ts';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { host, withDisks } from './examples.ts';

const virtio = { name: 'a', disk: { bus: 'virtio' } };

test.each([
  { directIo: true, cache: 'none', why: 'the file system can do without' },
  { directIo: true, preallocated: true, cache: 'none', io: 'native', why: 'and allocation never blocks' },
  { directIo: false, preallocated: true, cache: 'writethrough', why: 'the file system cannot' },
  { block: true, directIo: true, cache: 'none', io: 'native', why: 'a device never blocks' },
  {
    asks: { io: 'threads' },
    block: true,
    directIo: true,
    cache: 'none',
    io: 'threads',
    why: 'the disk asks for threads',
  },
  { asks: { cache: 'writeback' }, block: true, directIo: true, cache: 'writeback', why: 'the disk asks for a cache' },
])('cache $cache, IO $io: $why', ({ asks, block = false, directIo, preallocated = false, cache, io }) => {
  const domain = toDomain(withDisks([{ ...virtio, ...asks }]), host({ isBlockVolume: { a: block } }));
  const probe = { directIo: () => directIo, preallocated: () => preallocated };
  const [tuned] = withDiskModes(domain, probe).devices.disk ?? [];
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
