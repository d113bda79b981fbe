import type { FileHandle } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { failure } from '../../failures.ts';
import { descriptorPath, openDirectoryIn, openFileIn, PathError } from '../files/open-in-root.ts';
import { HEADER_BYTES, inspectImage } from './image-format.ts';
import type { ImageFile } from './images.ts';
import { DEFAULT_DISK_DIRECTORY } from './images.ts';

/** A file found in an image, open. */
export interface ImageContent {
  /** In the image. */
  path: string;
  file: FileHandle;
  /** Of a disk. */
  format?: 'raw' | 'qcow2';
}

/**
 * Finds a file in the root directory of its image and checks that it can be used.
 * @throws ImageContent naming field, image and path
 */
export const openImageContent = async (root: string, wanted: ImageFile): Promise<ImageContent> => {
  const path = wanted.path ?? (await onlyDiskIn(root, wanted));
  const file = await openFileIn(root, path).catch(
    refusePath(wanted, (why) => `${why} in it: correct the path, or use an image that has it`),
  );
  try {
    return { path, file, ...(await formatOf(file, path, wanted)) };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** Format of an open disk; boot files have none. @throws ImageContent */
export const formatOf = async (
  file: FileHandle,
  path: string,
  wanted: ImageFile,
): Promise<Pick<ImageContent, 'format'>> => {
  if (wanted.kind === 'boot') return {};
  const header = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
  const verdict = bytesRead === 0 ? { refused: 'it is empty' } : inspectImage(header.subarray(0, bytesRead));
  if ('format' in verdict) return verdict;
  throw contentError(wanted, `${path} cannot be used as a disk: ${verdict.refused}`);
};

const onlyDiskIn = async (root: string, wanted: ImageFile): Promise<string> => {
  const directory = await openDirectoryIn(root, DEFAULT_DISK_DIRECTORY).catch(
    refusePath(wanted, () => `it has no directory ${DEFAULT_DISK_DIRECTORY}: put the disk there, or set path`),
  );
  try {
    const [only, ...more] = await readdir(descriptorPath(directory));
    if (only !== undefined && more.length === 0) return `${DEFAULT_DISK_DIRECTORY}/${only}`;
    const found = only === undefined ? 'no file' : 'more than one file';
    throw contentError(wanted, `${DEFAULT_DISK_DIRECTORY} holds ${found}: set path`);
  } finally {
    await directory.close();
  }
};

const refusePath =
  (wanted: ImageFile, say: (why: string) => string) =>
  (error: unknown): never => {
    throw error instanceof PathError ? contentError(wanted, say(error.message)) : error;
  };

const contentError = ({ field, image }: ImageFile, why: string): Error =>
  failure('ImageContent', `${field}: image ${image}: ${why}`);
