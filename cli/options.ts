import { Command, InvalidArgumentError, Option } from 'commander';

/** Parses a count of seconds; commander prints the message with the option's name. */
export function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('A whole number of seconds, 0 or more.');
  return value;
}

/** The same where 0 would mean not to wait at all. */
export function atLeastOneSecond(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('A whole number of seconds, 1 or more; leave it out to wait without limit.');
  return value;
}

/** A command on one VM: `virtflow <name> <vm> [-n namespace]`. */
export const vmCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('<vm>', 'name of the VirtualMachine')
    .option('-n, --namespace <namespace>', 'namespace of the VirtualMachine', 'default');

/** A command that can wait for what it asked. */
export const waitingCommand = (name: string, description: string): Command =>
  vmCommand(name, description)
    .option('-w, --wait', 'wait until it is done, with progress', false)
    .option('--timeout <seconds>', 'give up waiting after this many seconds', seconds, 300);

export interface WaitOptions {
  namespace: string;
  wait: boolean;
  timeout: number;
}

export type Output = 'table' | 'json';

/** `-o json` for programs; the table is for people. */
export const outputOption = (): Option =>
  new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table');
