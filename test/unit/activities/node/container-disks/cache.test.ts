import { writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { cachedPath, imageCache } from '../../../../../activities/node/container-disks/cache.ts';

const MIB = 1024 * 1024;
let directory: string;
let source: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cache-'));
  source = join(directory, 'source.img');
});
afterEach(() => rm(directory, { recursive: true }));

const ensure = async (cache: ReturnType<typeof imageCache>): Promise<string> => {
  const file = await open(source);
  try {
    return await cache.ensure('/disk/x.img', file);
  } finally {
    await file.close();
  }
};

test('a copy has the same content, holes where the image is empty, and nobody may write it', async () => {
  const content = Buffer.concat([
    Buffer.alloc(MIB, 1),
    Buffer.alloc(8 * MIB),
    Buffer.alloc(MIB + 7, 2),
    Buffer.alloc(MIB),
  ]);
  await writeFile(source, content);
  const copy = join(directory, 'cache', await ensure(imageCache(join(directory, 'cache'))));
  expect((await readFile(copy)).equals(content)).toBe(true);
  const { blocks, size, mode } = await stat(copy);
  expect(size).toBe(content.length);
  expect(blocks * 512).toBeLessThan(4 * MIB);
  expect(mode & 0o777).toBe(0o444);
});

test('a second request takes the copy that is there, and requests at once copy once', async () => {
  await writeFile(source, 'first');
  const cache = imageCache(join(directory, 'cache'));
  const [a, b] = await Promise.all([ensure(cache), ensure(cache)]);
  expect(b).toBe(a);
  const { ino } = await stat(join(directory, 'cache', a));
  expect(await ensure(cache)).toBe(a);
  expect((await stat(join(directory, 'cache', a))).ino).toBe(ino);
  expect(await readFile(join(directory, 'cache', a), 'utf8')).toBe('first');
  expect(await readdir(join(directory, 'cache', a, '..'))).toHaveLength(1);
});

test('a file that was written to is another one, also with its old times', async () => {
  await writeFile(source, 'first');
  const { atime, mtime } = await stat(source);
  const cache = imageCache(join(directory, 'cache'));
  const first = await ensure(cache);
  await writeFile(source, 'other');
  await utimes(source, atime, mtime);
  const other = await ensure(cache);
  expect(await readFile(join(directory, 'cache', first), 'utf8')).toBe('first');
  expect(await readFile(join(directory, 'cache', other), 'utf8')).toBe('other');
});

test('a file that is written to while it is copied is not kept', async () => {
  await writeFile(source, Buffer.alloc(2 * MIB, 1));
  const cache = imageCache(join(directory, 'cache'));
  const file = await open(source);
  const copied = cache.ensure('/disk/x.img', file, () => writeFileSync(source, 'x'));
  await expect(copied).rejects.toThrow(/x\.img was written to while it was copied/);
  await file.close();
  expect(await leftovers()).toEqual([]);
});

/** Files in the cache. */
const leftovers = async (): Promise<string[]> =>
  (await readdir(join(directory, 'cache'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test('a copy that breaks off leaves nothing behind', async () => {
  await mkdir(source);
  await expect(ensure(imageCache(join(directory, 'cache')))).rejects.toThrow(/EISDIR/);
  expect(await leftovers()).toEqual([]);
});

test('evicts what is neither in use nor fresh, leftovers of broken copies too', async () => {
  await writeFile(source, 'x');
  const cache = imageCache(join(directory, 'cache'));
  const used = await ensure(cache);
  const leftover = join(directory, 'cache', 'b'.repeat(64), 'y.img.partial');
  await mkdir(join(leftover, '..'));
  await writeFile(leftover, 'y');
  const old = new Date(Date.now() - 3_600_000);
  await utimes(leftover, old, old);
  expect(await cache.evict(new Set())).toEqual([`${'b'.repeat(64)}/y.img.partial`]);

  const copy = join(directory, 'cache', used);
  await chmod(copy, 0o644);
  await utimes(copy, old, old);
  expect(await cache.evict(new Set([used]))).toEqual([]);
  expect(await cache.evict(new Set())).toEqual([used]);
  expect(await readdir(join(directory, 'cache'))).toEqual([]);
});

test('the place of a copy is set by the content and named like the file', () => {
  const content = { ino: 1n, size: 2n, mtimeNs: 3n, ctimeNs: 4n };
  expect(cachedPath('/disk/x.img', content)).toMatch(/^[0-9a-f]{64}\/x\.img$/);
  expect(cachedPath('/disk/x.img', { ...content, ctimeNs: 5n })).not.toBe(cachedPath('/disk/x.img', content));
  expect(cachedPath(`/disk/${'n'.repeat(255)}`, content).length).toBeLessThan(200);
});
