import type { FileHandle } from 'node:fs/promises';
import { rename, rm, statfs } from 'node:fs/promises';
import { LAUNCHER_UID } from '../../../api/launcher/paths.ts';
import { failure } from '../../failures.ts';
import { createFileIn, descriptorPath, openDirectoryIn, openFileIn, PathError } from '../files/open-in-root.ts';
import type { DiskFile } from './disk-files.ts';

/** A claim may hold a little less than it says, for its file system's own sake (KubeVirt's default). */
const TOLERATED_SHORTFALL = 0.1;
const IMAGE_MODE = 0o660;

/**
 * Ensures that a disk image exists below a launcher's root and belongs to the launcher's user. Safe to repeat under a running guest.
 * @throws InvalidSpec (no image, and none may be made), VolumeNotReady (no room for it)
 */
export const provideDiskFile = async (root: string, disk: DiskFile): Promise<void> => {
  const directory = await openDirectoryIn(root, disk.directory);
  try {
    const file = (await openIfThere(directory, disk)) ?? (await createImage(directory, disk));
    try {
      await giveToLauncher(file);
    } finally {
      await file.close();
    }
  } finally {
    await directory.close();
  }
};

/** Links are resolved within the volume: an image that is a link out of it does not exist for the guest either. */
const openIfThere = async (
  directory: FileHandle,
  { field, volume, file }: DiskFile,
): Promise<FileHandle | undefined> => {
  try {
    return await openFileIn(descriptorPath(directory), file);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    if (error.reason === 'missing') return undefined;
    throw failure('InvalidSpec', `${field}: volume ${volume}: ${error.message}`, error);
  }
};

const createImage = async (directory: FileHandle, disk: DiskFile): Promise<FileHandle> => {
  const { field, volume, file, createBytes } = disk;
  if (createBytes === undefined) {
    throw failure('InvalidSpec', `${field}: volume ${volume} has no file ${file}: create it, or use type DiskOrCreate`);
  }
  const size = await sizeThatFits(directory, disk, createBytes);
  // Made under another name and renamed when it is whole: a worker killed in between leaves no image of the wrong size.
  const partial = `.virtflow-${file}`;
  await rm(`${descriptorPath(directory)}/${partial}`, { force: true });
  const image = await createFileIn(directory, partial, IMAGE_MODE);
  try {
    // Whatever this process's umask is.
    await image.chmod(IMAGE_MODE);
    await image.truncate(size);
    await rename(`${descriptorPath(directory)}/${partial}`, `${descriptorPath(directory)}/${file}`);
    return image;
  } catch (error) {
    await image.close();
    throw error;
  }
};

const sizeThatFits = async (
  directory: FileHandle,
  { field, volume, file }: DiskFile,
  wanted: number,
): Promise<number> => {
  const { bavail, bsize } = await statfs(descriptorPath(directory));
  const available = bavail * bsize;
  if (available >= wanted) return wanted;
  if (available >= wanted * (1 - TOLERATED_SHORTFALL)) return available - (available % bsize);
  throw failure(
    'VolumeNotReady',
    `${field}: volume ${volume} has ${available} bytes free, ${file} shall have ${wanted}: free space or use a larger volume`,
  );
};

const giveToLauncher = async (file: FileHandle): Promise<void> => {
  const { uid, gid } = await file.stat();
  if (uid !== LAUNCHER_UID || gid !== LAUNCHER_UID) await file.chown(LAUNCHER_UID, LAUNCHER_UID);
};
