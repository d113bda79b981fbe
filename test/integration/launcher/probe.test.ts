import { afterEach, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMMAND_SOCKET } from '../../../api/launcher/paths.ts';
import { call } from '../../../launcher/probe/call.ts';
import type { LauncherPod } from '../../support/launcher-pod.ts';
import { agentConnected, disposeAll, startPod, syncRequest } from './support.ts';

jest.setTimeout(240_000);
afterEach(disposeAll);

/** As virt-probe asks. */
const probe = async (pod: LauncherPod, order: object): Promise<unknown> => {
  const socket = join(pod.volume('sockets'), COMMAND_SOCKET);
  const json = JSON.stringify(order);
  return JSON.parse(await call({ socket, method: 'ProbeGuest', vmiUid: pod.vmi.uid, json, timeoutMs: 10_000 }));
};
const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script], timeoutSeconds: 5 });
const passed = { exitCode: 0, output: '' };

test('probes reach the guest: its commands, their exit codes and words, a sign of life', async () => {
  const { pod, client } = await startPod();
  await expect(probe(pod, shell('true'))).rejects.toThrow('the guest agent is not connected');
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(client.watch().reports);
  expect(await probe(pod, {})).toEqual(passed);
  expect(await probe(pod, shell('echo "$0 is well"'))).toEqual({ exitCode: 0, output: '/bin/sh is well\n' });
  expect(await probe(pod, shell('echo no >&2; exit 3'))).toEqual({ exitCode: 3, output: 'no\n' });
  await expect(probe(pod, { command: '/bin/none', args: [], timeoutSeconds: 5 })).rejects.toThrow('/bin/none');
  await expect(probe(pod, { ...shell('sleep 10'), timeoutSeconds: 1 })).rejects.toThrow('within 1 s');
  await expect(probe(pod, { command: 7 })).rejects.toThrow('json');

  await client.report('PauseVMI');
  expect([await probe(pod, {}), await probe(pod, shell('false'))]).toEqual([passed, passed]);
});

test('a command line that is not understood is told how it is said', async () => {
  const program = new URL('../../../launcher/probe/main.ts', import.meta.url).pathname;
  const failed = promisify(execFile)(process.execPath, ['--no-warnings', program, '--command']);
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('usage: virt-probe') });
});
