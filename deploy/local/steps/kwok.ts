import { join } from 'node:path';
import { cached, cachePath, exists } from '../cache.ts';
import type { Context, Step } from '../context.ts';
import { run } from '../shell.ts';
import { versions } from '../versions.ts';

const dir = (ctx: Context): string => cachePath(ctx, 'kwok', versions.KWOK_VERSION);

/** Plays the kubelet of nodes that do not exist. */
export const kwokBin = (ctx: Context): string => join(dir(ctx), 'kwok');

export const kwok: Step = {
  title: `Build KWOK ${versions.KWOK_VERSION} from its Go module (about 1 minute)`,
  skip: async (ctx) => ((await exists(dir(ctx))) ? 'built' : undefined),
  run: async (ctx) => {
    await cached(ctx, 'kwok', versions.KWOK_VERSION, async (out) => {
      const module = `sigs.k8s.io/kwok/cmd/kwok@v${versions.KWOK_VERSION}`;
      const env = { GOBIN: out, GOFLAGS: '' };
      await run(['nice', '-n', '5', 'go', 'install', '-v', '-trimpath', '-ldflags=-s -w', module], {
        env,
        onLine: ctx.report,
      });
    });
  },
  remedy: 'check that Go is 1.21 or later and reaches its module proxy (go env GOPROXY), then run this again',
};
