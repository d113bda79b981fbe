import { join } from 'node:path';
import { execa } from 'execa';
import type { Context } from '../context.ts';
import { clusterEnv } from './env.ts';

/** Runs the benchmarks on the cluster. @returns their exit code: not 0 when a figure is above its limit */
export async function bench(ctx: Context, args: readonly string[]): Promise<number> {
  const main = join(ctx.root, 'test/bench/main.ts');
  const env = { ...process.env, ...clusterEnv(ctx) };
  const result = await execa('node', ['--no-warnings', main, ...args], { env, reject: false, stdio: 'inherit' });
  return result.exitCode ?? 1;
}
