import { parseArgs } from 'node:util';

export type ProbeOrder =
  { kind: 'ping'; timeoutSeconds: number } | { kind: 'exec'; timeoutSeconds: number; command: string; args: string[] };

/** Its command line was not understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const USAGE = 'usage: virt-probe [--timeoutSeconds N] (--guestAgentPing | --command PROGRAM [-- ARGUMENT…])';

/** KubeVirt's command line: users write it into their probes. `--domainName` is of no use here: a launcher has one guest. @throws UsageError */
export const readArguments = (argv: string[]): ProbeOrder => {
  const { values, positionals } = parsed(argv);
  const timeoutSeconds = Number(values.timeoutSeconds ?? 1);
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1) {
    throw new UsageError(`--timeoutSeconds: "${values.timeoutSeconds}" is no number of seconds. ${USAGE}`);
  }
  if (values.guestAgentPing === true) return { kind: 'ping', timeoutSeconds };
  if (!values.command) throw new UsageError(USAGE);
  return { kind: 'exec', timeoutSeconds, command: values.command, args: positionals };
};

const parsed = (argv: string[]) => {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        domainName: { type: 'string' },
        timeoutSeconds: { type: 'string' },
        command: { type: 'string' },
        guestAgentPing: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} ${USAGE}`);
  }
};
