import { execa } from 'execa';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Called with each line the command prints. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a command to its end and returns what it printed on standard output, without the last newline.
 * @throws Error with the command and the last lines it printed, when it cannot be started or fails
 */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const [file = '', ...args] = command;
  const child = execa(file, args, {
    reject: false,
    all: true,
    input: options.input ?? '',
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  if (options.onLine) for await (const line of child.iterable({ from: 'all' })) options.onLine(line);
  const result = await child;
  if (!result.failed) return result.stdout;
  const tail = result.all.split('\n').slice(-15).join('\n');
  throw new Error(`${command.join(' ')}\n${tail === '' ? result.shortMessage : tail}`);
}

/** Runs a command and says only whether it succeeded. */
export const succeeds = async (command: readonly string[]): Promise<boolean> => {
  const [file = '', ...args] = command;
  const result = await execa(file, args, { reject: false, stdin: 'ignore' });
  return !result.failed;
};
