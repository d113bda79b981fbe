import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { digest, digestFiles } from '../cache.ts';

/** Digest of names and contents of files and of everything below directories; paths are relative to `root`. */
export async function sourcesKey(root: string, paths: readonly string[]): Promise<string> {
  const files = (await Promise.all(paths.map((path) => filesBelow(join(root, path))))).flat().sort();
  return digest(...files.map((file) => relative(root, file)), await digestFiles(files));
}

async function filesBelow(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
