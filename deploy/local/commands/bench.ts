import { join } from 'node:path';
import { execa } from 'execa';
import type { Context } from '../context.ts';
import { clusterEnv } from './env.ts';

/** The benchmarks that have a cluster of their own, of nodes that KWOK plays. */
export const apart = ['density', 'soak'] as const;

/** Runs one of them. @returns its exit code: not 0 when a figure is above its limit */
export async function benchApart(ctx: Context, part: (typeof apart)[number], args: readonly string[]): Promise<number> {
  const main = join(ctx.root, 'test/bench', part, 'main.ts');
  const result = await execa('node', ['--no-warnings', main, ...args], { reject: false, stdio: 'inherit' });
  return result.exitCode ?? 1;
}

/** Runs the benchmarks on the cluster. @returns their exit code: not 0 when a figure is above its limit */
export async function bench(ctx: Context, args: readonly string[]): Promise<number> {
  const main = join(ctx.root, 'test/bench/main.ts');
  const env = { ...process.env, ...clusterEnv(ctx) };
  const result = await execa('node', ['--no-warnings', main, ...args], { env, reject: false, stdio: 'inherit' });
  return result.exitCode ?? 1;
}
