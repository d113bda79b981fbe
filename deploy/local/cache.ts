import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from './context.ts';

/** A short key of content: equal parts, equal key. */
export const digest = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 16);
};

/** Digest of files' contents. @throws ENOENT */
export const digestFiles = async (files: readonly string[]): Promise<string> =>
  digest(...(await Promise.all(files.map((file) => readFile(file)))));

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Where the cache keeps `what` of this key (a version or a digest), whether or not it is there. */
export const cachePath = (ctx: Context, what: string, key: string): string => join(ctx.cacheDir, `${what}-${key}`);

/**
 * Returns the cache's folder for `what` of this key, filled by `build` if it is not there yet. `build` writes into
 * another folder that takes this one's place only when it is whole, so an interrupted build leaves nothing half-done.
 */
export async function cached(
  ctx: Context,
  what: string,
  key: string,
  build: (dir: string) => Promise<void>,
): Promise<string> {
  const path = cachePath(ctx, what, key);
  if (await exists(path)) return path;
  await mkdir(ctx.cacheDir, { recursive: true });
  const scratch = await mkdtemp(join(ctx.cacheDir, `.${what}-`));
  try {
    await build(scratch);
    await chmod(scratch, 0o755);
    await rename(scratch, path).catch(async (error: unknown) => {
      if (!(await exists(path))) throw error; // otherwise another process built the same at the same time
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return path;
}
