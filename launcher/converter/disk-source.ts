import { basename, join } from 'node:path/posix';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import {
  blockDevice,
  cloudInitImage,
  configImage,
  DOWNWARD_METRICS_DISK,
  containerDiskImage,
  emptyDiskImage,
  hostDiskDirectory,
  overlayImage,
  pluggedDisk,
  volumeDirectory,
} from '../../api/launcher/paths.ts';
import type { Volume } from '../../api/kubevirt/types.ts';
import type { Disk, DiskSource } from './domain.ts';
import { ConversionError } from './errors.ts';

/** What stands behind a disk. */
export interface VolumeImage {
  type: 'file' | 'block';
  source?: DiskSource;
  format: 'raw' | 'qcow2';
  backingStore?: Disk['backingStore'];
  /** A CD-ROM with it gives freed blocks back too; hard disks do whatever stands behind them. */
  discards: boolean;
  /** The host writes it, the guest only reads. */
  fixed?: true;
}

const rawFile = (path: string, discards: boolean): VolumeImage => ({
  type: 'file',
  source: { '@file': path },
  format: 'raw',
  discards,
});

/** Image of a PVC: a block device, or the file disk.img in its directory. */
function claimImage(volume: string, host: HostFacts): VolumeImage {
  if (host.isBlockVolume[volume] !== true) return rawFile(join(volumeDirectory(volume), 'disk.img'), true);
  return { type: 'block', source: { '@dev': blockDevice(volume), '@name': volume }, format: 'raw', discards: true };
}

/** A qcow2 overlay that takes the writes, over a read-only image. Without a known format libvirt reads the overlay's header. */
function overlay(volume: string, below: VolumeImage, host: HostFacts): VolumeImage {
  const format = host.backingFormats?.[volume];
  return {
    type: 'file',
    source: { '@file': overlayImage(volume) },
    format: 'qcow2',
    discards: true,
    ...(format &&
      below.source && { backingStore: { '@type': below.type, format: { '@type': format }, source: below.source } }),
  };
}

/** An empty drive. */
export const emptyTray: VolumeImage = { type: 'block', format: 'raw', discards: true };

/** Brought to the node for the running guest, by another Pod. */
const pluggedImage = (volume: string, host: HostFacts): VolumeImage =>
  host.isBlockVolume[volume] === true
    ? { type: 'block', source: { '@dev': pluggedDisk(volume) }, format: 'raw', discards: true }
    : rawFile(`${pluggedDisk(volume)}.img`, true);

/** @param plugged into the running guest @throws ConversionError for a volume that no disk can show */
export function volumeImage(volume: Volume, host: HostFacts, plugged = false): VolumeImage {
  const { name } = volume;
  if (plugged) return pluggedImage(name, host);
  if (volume.containerDisk) return overlay(name, rawFile(containerDiskImage(name), true), host);
  if (volume.ephemeral) return overlay(name, claimImage(name, host), host);
  if (volume.persistentVolumeClaim ?? volume.dataVolume) return claimImage(name, host);
  if (volume.emptyDisk)
    return { type: 'file', source: { '@file': emptyDiskImage(name) }, format: 'qcow2', discards: true };
  if (volume.hostDisk) return rawFile(join(hostDiskDirectory(name), basename(volume.hostDisk.path)), false);
  if (volume.cloudInitNoCloud ?? volume.cloudInitConfigDrive) return rawFile(cloudInitImage(name), false);
  if (volume.configMap ?? volume.secret ?? volume.downwardAPI ?? volume.serviceAccount ?? volume.sysprep)
    return rawFile(configImage(name), false);
  if (volume.downwardMetrics) return { ...rawFile(DOWNWARD_METRICS_DISK, false), fixed: true };
  throw new ConversionError(
    `spec.volumes[${name}]`,
    'has no source that a disk can show; use for example containerDisk or persistentVolumeClaim',
  );
}
