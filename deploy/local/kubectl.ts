import { parse } from 'yaml';
import { clusterEnv } from './commands/env.ts';
import type { Context } from './context.ts';
import { run } from './shell.ts';

/** Runs kubectl on the local cluster and returns what it printed. @throws Error with the command and its last lines */
export const kubectl = (ctx: Context, ...args: readonly string[]): Promise<string> =>
  run(['kubectl', ...args], { env: clusterEnv(ctx) });

/** One object, or undefined when there is none. */
export async function readObject<T>(
  ctx: Context,
  kind: string,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  const text = await kubectl(ctx, 'get', kind, name, '-n', namespace, '--ignore-not-found', '-o', 'yaml');
  return text === '' ? undefined : (parse(text) as T);
}

/** The objects that a label selector picks. */
export async function listObjects<T>(ctx: Context, kind: string, namespace: string, selector: string): Promise<T[]> {
  const text = await kubectl(ctx, 'get', kind, '-n', namespace, '-l', selector, '-o', 'json');
  return (JSON.parse(text) as { items: T[] }).items;
}
