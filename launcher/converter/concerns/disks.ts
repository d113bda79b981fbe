import type { HostFacts } from '../../../api/launcher/host-facts.ts';
import type { Disk as DiskSpec, VirtualMachineInstance, VolumeStatus } from '../../../api/kubevirt/types.ts';
import { virtioModel } from '../architecture.ts';
import { alias, given, type Concern } from '../concern.ts';
import { deviceNames, type DeviceName } from '../device-names.ts';
import { busOf } from '../disk-bus.ts';
import { emptyTray, volumeImage, type VolumeImage } from '../disk-source.ts';
import type { Disk, DiskDriver } from '../domain.ts';
import { ConversionError } from '../errors.ts';
import { hasOwnThread, ioThreadPlan, type IoThreadPlan } from '../io-threads.ts';
import { pciAddress } from '../pci-address.ts';
import { vcpuCount } from '../topology.ts';

const ERROR_POLICIES = ['stop', 'ignore', 'report', 'enospace'];

const fieldOf = (disk: DiskSpec): string => `spec.domain.devices.disks[${disk.name}]`;

/** The guest stops when its storage fails, unless the disk asks otherwise: it can be resumed once there is space again. */
function errorPolicy(disk: DiskSpec): string {
  const policy = disk.errorPolicy ?? 'stop';
  if (ERROR_POLICIES.includes(policy)) return policy;
  throw new ConversionError(`${fieldOf(disk)}.errorPolicy`, `"${policy}" is not one of ${ERROR_POLICIES.join(', ')}`);
}

/** Two guests on one disk must not cache what the other writes. */
function cacheMode(disk: DiskSpec): string | undefined {
  const cache = given(disk.cache);
  if (disk.disk === undefined || disk.shareable !== true) return cache;
  if (cache === undefined || cache === 'none') return 'none';
  throw new ConversionError(`${fieldOf(disk)}.cache`, `a shareable disk needs cache none, not "${cache}"`);
}

/** Of a volume that is plugged into the running guest; undefined: it came with the Pod. */
const pluggedStatus = ({ name }: DiskSpec, { status }: VirtualMachineInstance): VolumeStatus | undefined =>
  status?.volumeStatus?.find((volume) => volume.name === name && volume.hotplugVolume !== undefined);

/** Phases of a plugged volume in which the launcher can open it. */
const THERE = ['MountedToPod', 'Ready'];

const isOnItsWay = (disk: DiskSpec, vmi: VirtualMachineInstance): boolean => {
  const status = pluggedStatus(disk, vmi);
  return status !== undefined && !THERE.includes(status.phase ?? '');
};

/** Whether freed blocks go back to the storage: always, but for claims that were filled in advance to keep their space. */
function discards(disk: DiskSpec, image: VolumeImage, vmi: VirtualMachineInstance): boolean {
  const claim = vmi.status?.volumeStatus?.find(({ name }) => name === disk.name)?.persistentVolumeClaimInfo;
  if (image.fixed === true || claim?.preallocated === true) return false;
  return disk.disk !== undefined || disk.lun !== undefined || image.discards;
}

/** The thread of each paravirtual disk: its own, the next of the shared ones, or the whole pool. */
function threadAssigner(
  plan: IoThreadPlan | undefined,
): (disk: DiskSpec) => Pick<DiskDriver, '@iothread' | 'iothreads'> {
  if (plan === undefined) return () => ({});
  const pool = Array.from({ length: plan.total }, (_, index) => ({ '@id': index + 1 }));
  let own = plan.shared;
  let next = 0;
  return (disk) => {
    if (busOf(disk) !== 'virtio') return {};
    if (plan.pool) return { iothreads: { iothread: pool } };
    return { '@iothread': hasOwnThread(disk) ? ++own : (next++ % plan.shared) + 1 };
  };
}

function address(disk: DiskSpec, { index }: DeviceName): Disk['address'] {
  const pci = pciAddress(`${fieldOf(disk)}.disk.pciAddress`, disk.disk?.pciAddress);
  if (pci && busOf(disk) !== 'virtio')
    throw new ConversionError(`${fieldOf(disk)}.disk.pciAddress`, 'only disks on the virtio bus are PCI devices');
  if (busOf(disk) !== 'scsi' || disk.cdrom) return pci;
  return { '@type': 'drive', '@controller': 0, '@bus': 0, '@unit': index };
}

function readonly({ lun, disk, cdrom }: DiskSpec): boolean {
  return (lun ?? disk)?.readonly ?? (cdrom ? (cdrom.readonly ?? true) : false);
}

function blockIo({ blockSize }: DiskSpec): Disk['blockio'] {
  const { logical, physical, discardGranularity } = blockSize?.custom ?? {};
  if (logical === undefined && physical === undefined) return undefined;
  return {
    '@logical_block_size': logical,
    '@physical_block_size': physical,
    '@discard_granularity': discardGranularity,
  };
}

/** Without a volume only a CD-ROM makes sense: an empty tray. */
function imageOf(disk: DiskSpec, vmi: VirtualMachineInstance, host: HostFacts): VolumeImage {
  const volume = vmi.spec.volumes?.find(({ name }) => name === disk.name);
  if (volume) return volumeImage(volume, host, pluggedStatus(disk, vmi) !== undefined);
  if (disk.cdrom) return emptyTray;
  throw new ConversionError(fieldOf(disk), 'no volume has this name in spec.volumes');
}

function convert(
  disk: DiskSpec,
  device: DeviceName,
  image: VolumeImage,
  driver: DiskDriver,
  vmi: VirtualMachineInstance,
): Disk {
  const isDisk = disk.disk !== undefined;
  return {
    '@device': disk.lun ? 'lun' : disk.cdrom ? 'cdrom' : 'disk',
    '@type': image.type,
    '@model': busOf(disk) === 'virtio' && isDisk ? virtioModel(vmi) : undefined,
    driver,
    source: image.source,
    backingStore: image.backingStore,
    target: { '@dev': device.name, '@bus': busOf(disk), '@tray': given(disk.cdrom?.tray) },
    readonly: readonly(disk) || image.fixed === true ? '' : undefined,
    shareable: isDisk && disk.shareable === true ? '' : undefined,
    serial: isDisk ? given(disk.serial) : undefined,
    blockio: blockIo(disk),
    boot: disk.bootOrder === undefined ? undefined : { '@order': disk.bootOrder },
    alias: alias(disk.name),
    address: address(disk, device),
  };
}

/** Disks in the order of the spec, with the guest's names for them. */
export const disks: Concern = (vmi, host) => {
  const { disks: all = [], blockMultiQueue } = vmi.spec.domain.devices;
  const specs = all.filter((disk) => !isOnItsWay(disk, vmi));
  const known = Object.fromEntries((vmi.status?.volumeStatus ?? []).map(({ name, target }) => [name, target]));
  const names = deviceNames(specs, known);
  const threadOf = threadAssigner(ioThreadPlan(vmi));
  const disk = specs.map((spec) => {
    const image = imageOf(spec, vmi, host);
    const driver: DiskDriver = {
      '@name': 'qemu',
      '@type': image.format,
      '@cache': cacheMode(spec),
      '@io': given(spec.io),
      '@error_policy': errorPolicy(spec),
      '@discard': discards(spec, image, vmi) ? 'unmap' : undefined,
      '@queues': blockMultiQueue === true && busOf(spec) === 'virtio' ? Math.max(vcpuCount(vmi), 1) : undefined,
      ...threadOf(spec),
    };
    return convert(spec, names.get(spec.name) ?? { name: '', index: 0 }, image, driver, vmi);
  });
  return { devices: { disk } };
};
