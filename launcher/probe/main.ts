import { join } from 'node:path';
import { COMMAND_SOCKET, LAUNCHER_ENV, LAUNCHER_VOLUMES } from '../../api/launcher/paths.ts';
import type { ProbeOrder } from './arguments.ts';
import { readArguments } from './arguments.ts';
import { call } from './call.ts';

/** Beyond the guest's own time: the way to its agent and back. */
const ON_THE_WAY_MS = 500;

/** Carries a probe of the user's into the guest, through the launcher's command server. Resolves to the exit code. */
const probe = async (order: ProbeOrder): Promise<number> => {
  const { timeoutSeconds } = order;
  const target = {
    socket: join(LAUNCHER_VOLUMES.sockets.path, COMMAND_SOCKET),
    vmiUid: process.env[LAUNCHER_ENV.uid] ?? '',
    timeoutMs: timeoutSeconds * 1000 + ON_THE_WAY_MS,
  };
  const asked = order.kind === 'ping' ? {} : { command: order.command, args: order.args, timeoutSeconds };
  const reply = await call({ ...target, method: 'ProbeGuest', json: JSON.stringify(asked) });
  const result = JSON.parse(reply) as { exitCode: number; output: string };
  if (result.output !== '') process.stdout.write(`${result.output}\n`);
  return result.exitCode;
};

try {
  process.exitCode = await probe(readArguments(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
