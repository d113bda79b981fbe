import { createHash, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';

/** Copies of image files on this node, one per image id and file, kept while a Pod uses them and a while longer. */
export interface ImageCache {
  /** Path of the copy relative to the cache. Copied once: made under another name and renamed when whole. */
  ensure(key: ImageKey, source: FileHandle, progress?: (bytes: number) => void): Promise<string>;
  /** Removes copies that are not in use (relative paths) and were not asked for lately; leftovers of broken copies too. */
  evict(inUse: ReadonlySet<string>, now?: Date): Promise<string[]>;
}

export interface ImageKey {
  /** The runtime's id of the image. */
  imageId: string;
  /** File in the image. */
  path: string;
}

const CHUNK = 1024 * 1024;
const ZEROS = Buffer.alloc(CHUNK);
/** An unused copy stays this long: a VM that is restarted finds it, and nobody evicts what is about to be mounted. */
const KEEP_MS = 10 * 60_000;

export const imageCache = (directory: string): ImageCache => {
  const copies = new Map<string, Promise<void>>();

  const copyOnce = (path: string, source: FileHandle, progress: (bytes: number) => void): Promise<void> => {
    const running = copies.get(path);
    if (running !== undefined) return running;
    const copy = copyWhole(source, path, progress).finally(() => copies.delete(path));
    copies.set(path, copy);
    return copy;
  };

  return {
    async ensure(key, source, progress = () => {}) {
      const relative = cachedPath(key);
      const path = join(directory, relative);
      if (!(await exists(path))) await copyOnce(path, source, progress);
      const now = new Date();
      await utimes(path, now, now);
      return relative;
    },
    async evict(inUse, now = new Date()) {
      const evicted: string[] = [];
      for (const image of await names(directory)) {
        for (const name of await names(join(directory, image))) {
          const relative = join(image, name);
          const age = now.getTime() - (await stat(join(directory, relative))).mtimeMs;
          if (inUse.has(relative) || age < KEEP_MS) continue;
          await rm(join(directory, relative));
          evicted.push(relative);
        }
        if ((await names(join(directory, image))).length === 0) await rm(join(directory, image), { recursive: true });
      }
      return evicted;
    },
  };
};

/** `<digest of the image>/<digest of the path>-<file name>` */
export const cachedPath = ({ imageId, path }: ImageKey): string => {
  const digest = /sha256:([0-9a-f]{64})/.exec(imageId)?.[1] ?? sha256(imageId);
  return join(digest, `${sha256(path).slice(0, 12)}-${basename(path).slice(-100)}`);
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const copyWhole = async (source: FileHandle, path: string, progress: (bytes: number) => void): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true });
  const partial = `${path}.${randomUUID()}.partial`;
  const target = await open(partial, 'wx', 0o444);
  try {
    await copySparse(source, target, progress);
    await target.datasync();
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await target.close();
  }
};

/** Chunks of zeros become holes. */
const copySparse = async (source: FileHandle, target: FileHandle, progress: (bytes: number) => void): Promise<void> => {
  const buffer = Buffer.allocUnsafe(CHUNK);
  let position = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) break;
    if (!buffer.subarray(0, bytesRead).equals(ZEROS.subarray(0, bytesRead))) {
      await writeAll(target, buffer.subarray(0, bytesRead), position);
    }
    position += bytesRead;
    progress(position);
  }
  await target.truncate(position);
};

const writeAll = async (target: FileHandle, data: Buffer, position: number): Promise<void> => {
  for (let done = 0; done < data.length;) {
    done += (await target.write(data, done, data.length - done, position + done)).bytesWritten;
  }
};

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(undefinedIfMissing)) !== undefined;

const names = async (directory: string): Promise<string[]> =>
  (await readdir(directory).catch(undefinedIfMissing)) ?? [];

const undefinedIfMissing = (error: unknown): undefined => {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
};
