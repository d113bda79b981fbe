import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { COMMAND_SOCKET, LAUNCHER_VOLUMES } from '../../../../api/launcher/paths.ts';
import { call } from '../../../../launcher/probe/call.ts';
import type { LauncherServer } from '../../../support/launcher-server.ts';
import { startLauncher } from '../../../support/launcher-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'vf-probe-'));
const socket = join(directory, 'p/volumes/kubernetes.io~empty-dir', LAUNCHER_VOLUMES.sockets.name, COMMAND_SOCKET);
let launcher: LauncherServer;
beforeAll(async () => {
  launcher = await startLauncher(directory, 'p');
});
afterAll(() => {
  launcher.stop();
  rmSync(directory, { recursive: true });
});

const ask = (method: string, json?: string, timeoutMs = 5_000) =>
  call({ socket, method, vmiUid: 'vmi-uid', timeoutMs, ...(json === undefined ? {} : { json }) });

test('a command is understood by the library’s own server, whatever its length', async () => {
  const json = JSON.stringify({ command: 'ä'.repeat(40_000) });
  const reply = JSON.stringify({ output: 'ö'.repeat(40_000) });
  launcher.answer('ProbeGuest', { json: reply });
  await expect(ask('ProbeGuest', json)).resolves.toBe(reply);
  expect(launcher.received.at(-1)).toEqual({ method: 'ProbeGuest', request: { vmiUid: 'vmi-uid', json } });
});

test('a reply without text is an empty one', async () => {
  launcher.answer('GuestPing', { json: '' });
  await expect(ask('GuestPing')).resolves.toBe('');
});

test('a refusal is told in the server’s words', async () => {
  launcher.refuse('GuestPing', status.FAILED_PRECONDITION, 'the guest agent is not connected: ä');
  await expect(ask('GuestPing')).rejects.toThrow('the guest agent is not connected: ä');
});

test('a server that is not there is told', async () => {
  const nobody = call({ socket: join(directory, 'none'), method: 'GuestPing', vmiUid: 'u', timeoutMs: 1_000 });
  await expect(nobody).rejects.toThrow('ENOENT');
});
