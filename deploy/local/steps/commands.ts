import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, Step } from '../context.ts';
import { ensureFile } from '../files.ts';
import { kubernetesBin } from './kubernetes.ts';
import { temporalCli } from './temporal.ts';

/** The folder that `./dev env` puts first in PATH. */
export const commandsDir = (ctx: Context): string => join(ctx.stateDir, 'bin');

export const commandsInPath: Step = {
  title: 'Put kubectl, temporal and virtflow into one folder for PATH',
  run: async (ctx) => {
    const dir = commandsDir(ctx);
    await mkdir(dir, { recursive: true });
    const link = async (name: string, target: string): Promise<void> => {
      await rm(join(dir, name), { force: true });
      await symlink(target, join(dir, name));
    };
    await link('node', process.execPath);
    await link('kubectl', join(await kubernetesBin(ctx), 'kubectl'));
    await link('temporal', temporalCli(ctx));
    const main = join(ctx.root, 'cli/main.ts');
    await ensureFile(
      join(dir, 'virtflow'),
      `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${main}' "$@"\n`,
      0o755,
    );
  },
  remedy: 'check that the state directory can be written to',
};
