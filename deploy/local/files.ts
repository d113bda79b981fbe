import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file so that a reader sees the old content or the new, never half; leaves an equal file alone. */
export async function ensureFile(path: string, content: string, mode = 0o644): Promise<void> {
  const before = await readFile(path, 'utf8').catch(() => undefined);
  if (before === content) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content, { mode });
  await rename(`${path}.new`, path);
}
