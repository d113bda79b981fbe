import { expect, test } from '@jest/globals';
import {
  blockDevice,
  cloudInitImage,
  configImage,
  containerDiskImage,
  emptyDiskImage,
  hostDiskDirectory,
  overlayImage,
  volumeDirectory,
} from '../../../../../api/launcher/paths.ts';
import { disks } from '../../../../../launcher/converter/concerns/disks.ts';
import type { Disk } from '../../../../../launcher/converter/domain.ts';
import { devicesOf, host, withDisks } from '../examples.ts';

const convert = (...args: Parameters<typeof withDisks>): Disk[] =>
  devicesOf(disks(withDisks(...args), host())).disk ?? [];
const one = (...args: Parameters<typeof withDisks>): Disk | undefined => convert(...args)[0];
const virtio = { name: 'a', disk: { bus: 'virtio' } };

test.each`
  source                                                          | becomes
  ${{ persistentVolumeClaim: { claimName: 'x' } }}                | ${{ type: 'file', path: `${volumeDirectory('a')}/disk.img`, format: 'raw' }}
  ${{ dataVolume: { name: 'x' } }}                                | ${{ type: 'file', path: `${volumeDirectory('a')}/disk.img`, format: 'raw' }}
  ${{ emptyDisk: { capacity: '1Gi' } }}                           | ${{ type: 'file', path: emptyDiskImage('a'), format: 'qcow2' }}
  ${{ containerDisk: { image: 'x' } }}                            | ${{ type: 'file', path: overlayImage('a'), format: 'qcow2' }}
  ${{ ephemeral: { persistentVolumeClaim: { claimName: 'x' } } }} | ${{ type: 'file', path: overlayImage('a'), format: 'qcow2' }}
  ${{ hostDisk: { path: '/data/b.img', type: 'Disk' } }}          | ${{ type: 'file', path: `${hostDiskDirectory('a')}/b.img`, format: 'raw' }}
  ${{ cloudInitNoCloud: { userData: 'x' } }}                      | ${{ type: 'file', path: cloudInitImage('a'), format: 'raw' }}
  ${{ configMap: { name: 'x' } }}                                 | ${{ type: 'file', path: configImage('a'), format: 'raw' }}
`('$source', ({ source, becomes }) => {
  const disk = one([virtio], [{ name: 'a', ...(source as object) }]);
  expect({ type: disk?.['@type'], path: disk?.source?.['@file'], format: disk?.driver['@type'] }).toEqual(becomes);
});

test('a claim in block mode is a device', () => {
  const [disk] = devicesOf(disks(withDisks([virtio]), host({ isBlockVolume: { a: true } }))).disk ?? [];
  expect(disk).toMatchObject({ '@type': 'block', source: { '@dev': blockDevice('a') } });
});

test('an overlay names the image below it when its format is known; else its own header does', () => {
  const instance = withDisks([virtio], [{ name: 'a', containerDisk: { image: 'x' } }]);
  const backing = (formats?: Record<string, 'raw'>) =>
    devicesOf(disks(instance, host(formats ? { backingFormats: formats } : {}))).disk?.[0]?.backingStore;
  expect(backing({ a: 'raw' })).toEqual({
    '@type': 'file',
    format: { '@type': 'raw' },
    source: { '@file': containerDiskImage('a') },
  });
  expect(backing()).toBeUndefined();
});

test.each([
  ['a disk without a volume', [virtio], [], /disks\[a\]: no volume/],
  ['a volume without a source', [virtio], [{ name: 'a' }], /spec\.volumes\[a\]/],
  ['an error policy that nobody knows', [{ ...virtio, errorPolicy: 'hope' }], undefined, /errorPolicy: "hope"/],
  ['a cache on a shared disk', [{ ...virtio, shareable: true, cache: 'writeback' }], undefined, /cache none/],
  [
    'a PCI address on SATA',
    [{ name: 'a', disk: { bus: 'sata', pciAddress: '0000:00:09.0' } }],
    undefined,
    /virtio bus/,
  ],
])('%s is refused', (_, specs, volumes, message) => {
  expect(() => convert(specs, volumes)).toThrow(message);
});

test('an empty tray is a CD-ROM without a source', () => {
  expect(one([{ name: 'a', cdrom: { bus: 'sata' } }], [])).toMatchObject({
    '@device': 'cdrom',
    readonly: '',
    source: undefined,
  });
});

test.each`
  kind       | spec                                           | becomes
  ${'disk'}  | ${{ disk: { bus: 'virtio', readonly: true } }} | ${{ '@device': 'disk', '@model': 'virtio-non-transitional', readonly: '' }}
  ${'LUN'}   | ${{ lun: { bus: 'scsi' } }}                    | ${{ '@device': 'lun', address: { '@unit': 0 }, readonly: undefined }}
  ${'CD'}    | ${{ cdrom: { bus: 'sata', tray: 'open' } }}    | ${{ '@device': 'cdrom', readonly: '', target: { '@tray': 'open' } }}
  ${'RW CD'} | ${{ cdrom: { bus: 'sata', readonly: false } }} | ${{ '@device': 'cdrom', readonly: undefined }}
`('$kind', ({ spec, becomes }) => {
  expect(one([{ name: 'a', ...(spec as object) }])).toMatchObject(becomes as object);
});

test('what a disk says of itself is kept', () => {
  const spec = {
    ...virtio,
    serial: 'S1',
    bootOrder: 2,
    cache: 'writethrough',
    io: 'threads',
    errorPolicy: 'report',
    shareable: false,
    blockSize: { custom: { logical: 512, physical: 4096 } },
  };
  expect(one([spec])).toMatchObject({
    serial: 'S1',
    boot: { '@order': 2 },
    driver: { '@cache': 'writethrough', '@io': 'threads', '@error_policy': 'report', '@discard': 'unmap' },
    blockio: { '@logical_block_size': 512, '@physical_block_size': 4096 },
    alias: { '@name': 'ua-a' },
  });
});

test('a shared disk is not cached', () => {
  expect(one([{ ...virtio, shareable: true }])).toMatchObject({ shareable: '', driver: { '@cache': 'none' } });
});

test('freed blocks of a preallocated claim stay where they are', () => {
  const volumeStatus = [{ name: 'a', target: '', persistentVolumeClaimInfo: { preallocated: true } }];
  expect(one([virtio], undefined, { status: { volumeStatus } })?.driver['@discard']).toBeUndefined();
  expect(one([virtio])?.driver['@discard']).toBe('unmap');
});

test('multi-queue is one queue per vCPU, on virtio', () => {
  const domain = { cpu: { sockets: 2, cores: 3 }, devices: { blockMultiQueue: true } };
  const [fast, slow] = convert([virtio, { name: 'b', disk: { bus: 'sata' } }], undefined, { domain });
  expect([fast?.driver['@queues'], slow?.driver['@queues']]).toEqual([6, undefined]);
});

test.each`
  domain                                                                | threads
  ${{}}                                                                 | ${[undefined, undefined, undefined]}
  ${{ ioThreadsPolicy: 'shared' }}                                      | ${[1, 1, 1]}
  ${{ ioThreadsPolicy: 'auto', resources: { requests: { cpu: '1' } } }} | ${[1, 2, 1]}
  ${{ ioThreadsPolicy: 'auto', resources: { limits: { cpu: '2' } } }}   | ${[1, 2, 3]}
`('IO threads with $domain: $threads', ({ domain, threads }) => {
  const all = [virtio, { ...virtio, name: 'b' }, { ...virtio, name: 'c' }];
  expect(convert(all, undefined, { domain: domain as object }).map(({ driver }) => driver['@iothread'])).toEqual(
    threads,
  );
});

test('a dedicated thread comes after the shared ones; SATA has none', () => {
  const all = [
    { ...virtio, dedicatedIOThread: true },
    { ...virtio, name: 'b' },
    { name: 'c', disk: { bus: 'sata' } },
  ];
  expect(convert(all).map(({ driver }) => driver['@iothread'])).toEqual([2, 1, undefined]);
});

test('a supplemental pool serves every disk with all its threads', () => {
  const domain = { ioThreadsPolicy: 'supplementalPool', ioThreads: { supplementalPoolThreadCount: 2 } };
  expect(one([virtio], undefined, { domain })?.driver.iothreads).toEqual({ iothread: [{ '@id': 1 }, { '@id': 2 }] });
});

test('metrics of the host are a disk that the guest only reads', () => {
  const instance = withDisks([{ name: 'm', disk: { bus: 'virtio' } }], [{ name: 'm', downwardMetrics: {} }]);
  const [disk] = devicesOf(disks(instance, host())).disk ?? [];
  expect(disk).toMatchObject({
    readonly: '',
    source: { '@file': '/var/run/kubevirt-private/downwardmetric-disk/vhostmd0' },
  });
  expect(disk?.driver['@discard']).toBeUndefined();
});

test('a volume that is plugged has a disk once it is there, by another path than one that came with the Pod', () => {
  const names = ['files', 'blocks', 'coming'];
  const plugged = (name: string, phase: string) => ({ ...{ name, phase, target: '' }, hotplugVolume: {} });
  const volumeStatus = [plugged('files', 'Ready'), plugged('blocks', 'MountedToPod'), plugged('coming', 'Bound')];
  const instance = withDisks(
    names.map((name) => ({ name, disk: { bus: 'scsi' } })),
    undefined,
    { status: { volumeStatus } },
  );
  const sources = devicesOf(disks(instance, host({ isBlockVolume: { blocks: true } }))).disk?.map(
    ({ source }) => source,
  );
  expect(sources).toEqual([
    { '@file': '/var/run/kubevirt/hotplug-disks/files.img' },
    { '@dev': '/var/run/kubevirt/hotplug-disks/blocks' },
  ]);
});
