import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { CommandRefused } from '../domain-manager/refusal.ts';

export interface ExecRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly timeoutSeconds: number;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly output: string;
}

export type Agent = (execute: string, seconds: number, args: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** How often the guest agent is asked whether the command has ended. */
const LOOK_EVERY_MS = 200;

const started = z.object({ pid: z.number() });
const base64 = z.base64().exactOptional();
const status = z.object({
  exited: z.boolean(),
  exitcode: z.number().exactOptional(),
  signal: z.number().exactOptional(),
  'out-data': base64,
  'err-data': base64,
});

/**
 * Runs a command in the guest and waits for its end. One that takes too long goes on by itself there: the agent cannot end it.
 * @throws CommandRefused `failed` when the agent refuses, or the command has not ended in time
 */
export const execInGuest = async (agent: Agent, request: ExecRequest): Promise<ExecResult> => {
  const { command, args, timeoutSeconds } = request;
  const deadline = Date.now() + timeoutSeconds * 1000;
  const order = { path: command, arg: args, 'capture-output': true };
  const { pid } = started.parse(await agent('guest-exec', timeoutSeconds, order));
  for (;;) {
    const now = status.parse(await agent('guest-exec-status', timeoutSeconds, { pid }));
    if (now.exited) {
      // As a shell tells a command that a signal has ended.
      const exitCode = now.exitcode ?? (now.signal === undefined ? 1 : 128 + now.signal);
      return { exitCode, output: text(now['out-data']) + text(now['err-data']) };
    }
    if (Date.now() >= deadline) {
      throw new CommandRefused('failed', `${command} has not ended in the guest within ${timeoutSeconds} s`);
    }
    await delay(LOOK_EVERY_MS);
  }
};

const text = (data: string | undefined): string =>
  data === undefined ? '' : Buffer.from(data, 'base64').toString('utf8');
