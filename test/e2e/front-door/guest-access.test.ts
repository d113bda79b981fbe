import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { createWebSocketStream } from 'ws';
import type { WebSocket } from 'ws';
import { consoleOver } from '../../support/console.ts';
import type { Console } from '../../support/console.ts';
import { until } from '../../support/until.ts';
import { virtctl } from '../../support/virtctl/index.ts';
import type { Virtctl } from '../../support/virtctl/index.ts';
import { collected, ended, opened, refusal } from '../../support/virtctl/sockets.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { PROCESSES } from '../faults/victims.ts';
import { launcherPod, systemPods } from '../support/pods.ts';
import { createMigration, deleteMigrations, untilOver, untilSettled } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import {
  NAMESPACE,
  condition,
  createClaim,
  createVm,
  deleteVm,
  getVm,
  getVmi,
  untilObject,
  untilReady,
} from '../support/vms.ts';

jest.setTimeout(300_000);

/** What a user does with a running guest, through API server, controller, node worker and launcher. */
const NAME = 'reached';
let client: Virtctl;

beforeAll(async () => {
  const config = new KubeConfig();
  config.loadFromDefault();
  client = virtctl(config, { namespace: NAMESPACE });
  await ensureNamespace(NAMESPACE);
  await deleteMigrations();
  await deleteVm(NAME);
  await createClaim(NAME);
  await createVm(NAME, {
    claim: NAME,
    network: true,
    change: (spec) => void (spec.domain.devices.autoattachGraphicsDevice = true),
  });
  await untilReady(NAME);
});
afterAll(() => deleteVm(NAME));

const openConsole = async (): Promise<{ shell: Console; socket: WebSocket }> => {
  const socket = await opened(await client.console(NAME));
  const shell = consoleOver(createWebSocketStream(socket));
  await shell.awaitShell();
  return { shell, socket };
};

const untilPaused = async (paused: boolean): Promise<void> => {
  const isSo = (): Promise<unknown> =>
    untilObject(
      `VMI paused: ${paused}`,
      () => getVmi(NAME),
      (vmi) => (condition(vmi, 'Paused')?.status === 'True') === paused,
      60_000,
    );
  await isSo();
};

test('the console takes commands; the next client takes it over', async () => {
  const first = await openConsole();
  first.shell.type('echo answer-$((6*7))');
  await first.shell.waitFor('answer-42');
  const closing = ended(first.socket);
  const second = await openConsole();
  expect((await closing).code).toBe(1000);
  second.shell.type('echo again-$((6*7))');
  await second.shell.waitFor('again-42');
  second.socket.terminate();
});

test('a port of the guest is forwarded, many times at once, and a port where nothing listens is named', async () => {
  const fetched = async (): Promise<string> => {
    const socket = await opened(await client.portForward(NAME, 8080));
    const answer = collected(socket);
    const closing = ended(socket);
    socket.send(Buffer.from('GET / HTTP/1.0\r\n\r\n'));
    await closing;
    return answer.bytes().toString();
  };
  for (const answer of await Promise.all(Array.from({ length: 10 }, fetched)))
    expect(answer).toMatch(/^HTTP\/1\.\d 200/);
  expect(await refusal(await client.portForward(NAME, 81))).toMatchObject({
    json: { message: expect.stringContaining('port 81') },
  });
});

test('the display speaks VNC, and its picture is PNG', async () => {
  const socket = await opened(await client.vnc(NAME));
  const answer = collected(socket);
  await until('the server says who it is', () => answer.bytes().toString().startsWith('RFB 003.'));
  socket.terminate();
  const picture = await client.screenshot(NAME);
  expect([picture.status, picture.contentType, picture.body.subarray(1, 4).toString()]).toEqual([
    200,
    'image/png',
    'PNG',
  ]);
});

test('the guest agent tells of the guest, and freezes its file systems', async () => {
  expect(await client.guestOsInfo(NAME)).toMatchObject({
    status: 200,
    json: { os: { id: expect.any(String) }, fsInfo: { disks: [{ mountPoint: '/data' }] } },
  });
  expect((await client.userList(NAME)).json).toMatchObject({ items: [] });
  expect((await client.filesystemList(NAME)).json).toMatchObject({ items: [{ mountPoint: '/data' }] });
  expect(await client.freeze(NAME, { unfreezeTimeout: '1m0s' })).toMatchObject({ status: 200 });
  expect((await client.guestOsInfo(NAME)).json).toMatchObject({ fsFreezeStatus: 'frozen' });
  expect(await client.unfreeze(NAME, {})).toMatchObject({ status: 200 });
});

test('a paused guest says so, moves paused, and runs on when it is told to; its console ends in order when it moves', async () => {
  expect(await client.pause(NAME, {})).toMatchObject({ status: 200 });
  await untilPaused(true);
  expect(condition(await getVmi(NAME), 'Paused')).toMatchObject({ reason: 'PausedByUser' });
  await untilObject(
    'VM shows Paused',
    () => getVm(NAME),
    ({ status }) => status?.printableStatus === 'Paused',
    60_000,
  );
  expect(await client.softReboot(NAME, {})).toMatchObject({ status: 409 });

  const before = (await getVmi(NAME))?.status?.nodeName;
  const socket = await opened(await client.console(NAME));
  const closing = ended(socket);
  await createMigration(`${NAME}-paused`, NAME);
  expect(await untilOver(`${NAME}-paused`)).toMatchObject({ status: { phase: 'Succeeded' } });
  expect((await closing).code).toBe(1000);
  await untilSettled(NAME);
  const moved = await getVmi(NAME);
  expect(moved?.status?.nodeName).not.toBe(before);
  expect(condition(moved, 'Paused')).toMatchObject({ status: 'True', reason: 'PausedByUser' });

  expect(await client.unpause(NAME, {})).toMatchObject({ status: 200 });
  await untilPaused(false);
  const { shell, socket: there } = await openConsole();
  shell.type('echo moved-$((6*7))');
  await shell.waitFor('moved-42');
  there.terminate();
});

test('a paused guest stays paused when launcher, libvirtd and node worker are killed, and can still be told to run', async () => {
  expect(await client.pause(NAME, {})).toMatchObject({ status: 200 });
  await untilPaused(true);
  const vmi = await getVmi(NAME);
  const pod = await launcherPod(vmi?.metadata?.uid ?? '');
  const workers = await systemPods('node');
  const killed = [
    await killInPod(pod.metadata?.uid ?? '', PROCESSES.launcher),
    await killInPod(pod.metadata?.uid ?? '', PROCESSES.libvirtd),
    ...(await Promise.all(workers.map(({ metadata }) => killInPod(metadata?.uid ?? '', PROCESSES.nodeWorker)))),
  ];
  expect(killed.every((count) => count > 0)).toBe(true);
  await until('the guest is told to run', async () => (await client.unpause(NAME, {})).status === 200, {
    timeoutMs: 120_000,
    everyMs: 500,
  });
  await untilPaused(false);
  expect((await getVmi(NAME))?.metadata?.uid).toBe(vmi?.metadata?.uid);
  const { shell, socket } = await openConsole();
  shell.type('echo alive-$((6*7))');
  await shell.waitFor('alive-42');
  socket.terminate();
});
