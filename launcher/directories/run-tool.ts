import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CommandRefused } from '../domain-manager/refusal.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 30_000;

/** Runs a program to its end. @throws CommandRefused `failed` with the program's own words */
export async function runTool(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  try {
    await run(program, args, { timeout: TIMEOUT_MS, env: { ...process.env, ...env } });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new CommandRefused('failed', `${program} ${args.join(' ')}: ${stderr?.trim() || message}`, error);
  }
}
