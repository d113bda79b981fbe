import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './shell.ts';

/** What a one-layer image runs. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
}

/**
 * Writes a docker-archive with one image of one layer, from a directory that holds its root file system. For images
 * so small that no build tool is worth its installation.
 */
export async function writeImageArchive(image: {
  readonly name: string;
  readonly rootfs: string;
  readonly config: ImageConfig;
  readonly archive: string;
}): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'virtflow-image-'));
  try {
    const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
    await run(['tar', ...reproducible, '-C', image.rootfs, '-cf', join(dir, 'layer.tar'), '.']);
    const layer = createHash('sha256')
      .update(await readFile(join(dir, 'layer.tar')))
      .digest('hex');
    const rootfs = { type: 'layers', diff_ids: [`sha256:${layer}`] };
    const config = { architecture: 'amd64', os: 'linux', config: image.config, rootfs };
    await writeFile(join(dir, 'config.json'), JSON.stringify(config));
    const manifest = [{ Config: 'config.json', RepoTags: [image.name], Layers: ['layer.tar'] }];
    await writeFile(join(dir, 'manifest.json'), JSON.stringify(manifest));
    await run(['tar', ...reproducible, '-C', dir, '-cf', image.archive, 'manifest.json', 'config.json', 'layer.tar']);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
