import { createHash, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';

/** Copies of image files on this node, one per file of an image's layer, kept while a Pod uses them and a while longer. */
export interface ImageCache {
  /**
   * Path of the copy relative to the cache; `name` is what the file is called in its image. Copied once: made under another name and renamed when whole.
   * @throws Error when the file is written to meanwhile
   */
  ensure(name: string, source: FileHandle, progress?: (bytes: number) => void): Promise<string>;
  /** Removes copies that are not in use (relative paths) and were not asked for lately; leftovers of broken copies too. */
  evict(inUse: ReadonlySet<string>, now?: Date): Promise<string[]>;
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
    async ensure(name, source, progress = () => {}) {
      const relative = cachedPath(name, await contentOf(source));
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

/** Parts of a file's status (stat(2)) that no other content has. */
export interface Content {
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

/**
 * Containers of one image share its layers' files, and nobody can set the time of a file's last change (ctime): the same inode with the same times is
 * the same content. It is known the moment a container runs, while the API server hears of the image's digest later. Where each container gets a copy
 * of its own from the runtime, each is taken for another content.
 */
const contentOf = (file: FileHandle): Promise<Content> => file.stat({ bigint: true });

/** `<digest of the content's identity>/<file name>` */
export const cachedPath = (name: string, { ino, size, mtimeNs, ctimeNs }: Content): string =>
  join(sha256([ino, size, mtimeNs, ctimeNs].join(' ')), basename(name).slice(-100));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const copyWhole = async (source: FileHandle, path: string, progress: (bytes: number) => void): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true });
  const partial = `${path}.${randomUUID()}.partial`;
  const target = await open(partial, 'wx', 0o444);
  try {
    const before = await contentOf(source);
    await copySparse(source, target, progress);
    if (cachedPath(path, await contentOf(source)) !== cachedPath(path, before)) {
      throw new Error(`${basename(path)} was written to while it was copied`);
    }
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
