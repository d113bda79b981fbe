import { execa } from 'execa';
import { parse, stringify } from 'yaml';

/** Longer than any `--timeout` that a test gives, shorter than a test's own: a command that hangs is named, and ended. */
const timeout = 300_000;

/**
 * The end-to-end tests act as users do: with kubectl and the virtflow command, on the cluster that `./dev up` made and whose environment
 * (`./dev env`) they were started with.
 */
export async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const { stdout } = await execa('kubectl', args, { input: input ?? '', timeout });
  return stdout;
}

/** Runs kubectl and returns what it says when it fails; '' when it does not. */
export async function kubectlError(args: readonly string[], input?: string): Promise<string> {
  const result = await execa('kubectl', args, { input: input ?? '', reject: false, timeout });
  return result.failed ? result.stderr : '';
}

export const apply = (object: object): Promise<string> => kubectl(['apply', '-f', '-'], stringify(object));

/** One object, or undefined when there is none. */
export async function getObject<T>(kind: string, name: string, namespace: string): Promise<T | undefined> {
  const text = await kubectl(['get', kind, name, '-n', namespace, '--ignore-not-found', '-o', 'yaml']);
  return text === '' ? undefined : (parse(text) as T);
}

export async function listObjects<T>(kind: string, namespace: string, selector?: string): Promise<T[]> {
  const text = await kubectl(['get', kind, '-n', namespace, ...(selector ? ['-l', selector] : []), '-o', 'json']);
  return (JSON.parse(text) as { items: T[] }).items;
}

/** Runs the virtflow command. */
export async function virtflow(args: readonly string[]): Promise<string> {
  const { stdout } = await execa('virtflow', args, { timeout });
  return stdout;
}
