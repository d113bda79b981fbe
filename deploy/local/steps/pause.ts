import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeImageArchive } from '../archive.ts';
import { cached, cachePath, digestFiles, exists } from '../cache.ts';
import { pauseImage } from '../cluster/configs.ts';
import type { Context, Step } from '../context.ts';
import { run } from '../shell.ts';

const source = join(import.meta.dirname, '../pause/pause.c');

export const pauseArchive = async (ctx: Context): Promise<string> =>
  join(cachePath(ctx, 'pause', await digestFiles([source])), 'pause.tar');

export const pause: Step = {
  title: 'Build the pause image, which holds the namespaces of a Pod',
  skip: async (ctx) => ((await exists(await pauseArchive(ctx))) ? 'built' : undefined),
  run: async (ctx) => {
    await cached(ctx, 'pause', await digestFiles([source]), async (dir) => {
      const rootfs = join(dir, 'rootfs');
      await mkdir(rootfs);
      await run(['cc', '-static', '-Os', '-s', '-o', join(rootfs, 'pause'), source]);
      const config = { Entrypoint: ['/pause'], User: '65535:65535' };
      await writeImageArchive({ name: pauseImage, rootfs, config, archive: join(dir, 'pause.tar') });
      await rm(rootfs, { recursive: true });
    });
  },
  remedy: 'check that the C compiler links statically (Debian: apt-get install gcc libc6-dev), then run this again',
};
