import type { Disk, Domain } from './domain.ts';

/** What the converter must ask of the file system, just before the domain starts. */
export interface StorageProbe {
  /** Files or the device at the path can be opened with O_DIRECT. */
  directIo(path: string): boolean;
  /** All blocks of the raw image are allocated. */
  preallocated(path: string): boolean;
}

/**
 * Fills in the cache and IO mode of disks that ask for none: no cache where all images support direct IO, else writethrough (a guest's flush is
 * always a flush); native IO without cache on devices and preallocated images, where it never blocks.
 */
export const withDiskModes = (domain: Domain, storage: StorageProbe): Domain => ({
  ...domain,
  devices: { ...domain.devices, disk: domain.devices.disk?.map((disk) => diskModes(disk, storage)) },
});

function diskModes(disk: Disk, storage: StorageProbe): Disk {
  const { source, backingStore, driver } = disk;
  const path = source?.['@file'] ?? source?.['@dev'];
  if (path === undefined) return disk;
  const images = [path, backingStore?.source['@file'] ?? backingStore?.source['@dev']].filter(
    (image) => image !== undefined,
  );
  const cache = driver['@cache'] ?? (images.every((image) => storage.directIo(image)) ? 'none' : 'writethrough');
  const native =
    cache === 'none' && (disk['@type'] === 'block' || (driver['@type'] === 'raw' && storage.preallocated(path)));
  return { ...disk, driver: { ...driver, '@cache': cache, '@io': driver['@io'] ?? (native ? 'native' : undefined) } };
}
