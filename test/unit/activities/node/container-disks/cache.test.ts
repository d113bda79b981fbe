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

const key = { imageId: `registry.example.com/x@sha256:${'a'.repeat(64)}`, path: '/disk/x.img' };

const ensure = async (cache: ReturnType<typeof imageCache>): Promise<string> => {
  const file = await open(source);
  try {
    return await cache.ensure(key, file);
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
  await writeFile(source, 'second');
  expect(b).toBe(a);
  expect(await ensure(cache)).toBe(a);
  expect(await readFile(join(directory, 'cache', a), 'utf8')).toBe('first');
  expect(await readdir(join(directory, 'cache', a, '..'))).toHaveLength(1);
});

test('a copy that breaks off leaves nothing behind', async () => {
  await mkdir(source);
  await expect(ensure(imageCache(join(directory, 'cache')))).rejects.toThrow(/EISDIR/);
  expect(await readdir(join(directory, 'cache', 'a'.repeat(64)))).toEqual([]);
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

test('the place of a copy is set by image and path', () => {
  const { imageId } = key;
  expect(cachedPath(key)).toMatch(/^a{64}\/[0-9a-f]{12}-x\.img$/);
  expect(cachedPath({ imageId, path: '/other/x.img' })).not.toBe(cachedPath(key));
  expect(cachedPath({ imageId: 'sha256:' + 'b'.repeat(64), path: '/disk/x.img' })).toMatch(/^b{64}\//);
  expect(cachedPath({ imageId: 'no digest/..', path: '/disk/x.img' })).toMatch(/^[0-9a-f]{64}\//);
  expect(cachedPath({ imageId, path: `/disk/${'n'.repeat(255)}` }).length).toBeLessThan(200);
});
