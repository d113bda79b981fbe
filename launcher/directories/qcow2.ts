import { existsSync, renameSync } from 'node:fs';
import { runTool } from './run-tool.ts';

/** A writable image over a read-only one, as large as that or of `bytes`; an image that is there stays: the guest may have written to it. */
export async function ensureOverlay(
  image: string,
  backing: string,
  backingFormat: 'raw' | 'qcow2',
  bytes?: number,
): Promise<void> {
  await ensureImage(image, ['-F', backingFormat, '-b', backing], bytes === undefined ? [] : [String(bytes)]);
}

/** An empty image of `bytes`. */
export async function ensureEmptyImage(image: string, bytes: number): Promise<void> {
  await ensureImage(image, [], [String(bytes)]);
}

/** Made under another name first: a launcher killed in between leaves no half image behind. */
async function ensureImage(image: string, options: string[], size: string[] = []): Promise<void> {
  if (existsSync(image)) return;
  const part = `${image}.part`;
  await runTool('qemu-img', ['create', '-q', '-f', 'qcow2', ...options, part, ...size]);
  renameSync(part, image);
}
