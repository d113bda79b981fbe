import { closeSync, constants, openSync, statSync } from 'node:fs';
import type { StorageProbe } from '../converter/index.ts';

const BLOCK_BYTES = 512;

/** Asks the file system what the converter wants to know of disk images. */
export const storageProbe: StorageProbe = {
  directIo: (path) => {
    try {
      closeSync(openSync(path, constants.O_RDONLY | constants.O_DIRECT));
      return true;
    } catch {
      return false;
    }
  },
  preallocated: (path) => {
    const { blocks, size } = statSync(path);
    return blocks * BLOCK_BYTES >= size;
  },
};
