import { execa } from 'execa';

/** Runs a program to its end and gives its standard output. @throws Error with the program's own words */
export type RunCommand = (file: string, args: readonly string[], options?: { input?: string }) => Promise<string>;

/** None of the programs that are run here takes longer on a healthy node. */
const TIMEOUT_MS = 20_000;

/** On the node, in the worker's own namespaces unless the program enters others. */
export const runCommand: RunCommand = async (file, args, options = {}) => {
  const { stdout, stderr, failed, shortMessage } = await execa(file, args, {
    reject: false,
    timeout: TIMEOUT_MS,
    ...(options.input === undefined ? { stdin: 'ignore' } : { input: options.input }),
  });
  if (failed) throw new Error(`${shortMessage ?? file}: ${stderr.trim() || 'no output'}`);
  return stdout;
};
