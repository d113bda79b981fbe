import { join } from 'node:path';
import { execa } from 'execa';
import type { Context } from '../context.ts';
import { clusterEnv } from './env.ts';

/** The benchmarks that have a cluster of their own, of nodes that KWOK plays. */
export const apart = ['density', 'soak'] as const;

/** Runs one of them. @returns its exit code: not 0 when a figure is above its limit */
export const benchApart = (ctx: Context, part: (typeof apart)[number], args: readonly string[]): Promise<number> =>
  start(ctx, `test/bench/${part}/main.ts`, args);

/** Runs the benchmarks on the cluster. @returns their exit code: not 0 when a figure is above its limit */
export const bench = (ctx: Context, args: readonly string[]): Promise<number> => start(ctx, 'test/bench/main.ts', args);

async function start(ctx: Context, main: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, ...clusterEnv(ctx) };
  const command = ['--no-warnings', join(ctx.root, main), ...args];
  const result = await execa('node', command, { env, reject: false, stdio: 'inherit' });
  return result.exitCode ?? 1;
}
