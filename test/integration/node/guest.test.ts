import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { consoleOver } from '../../support/console.ts';
import { ended, startGuestAccess } from '../../support/guest-access.ts';
import type { TestGuestAccess, TestGuestAccessOptions } from '../../support/guest-access.ts';
import { podsDirectoryWith } from '../../support/kubelet-pods.ts';
import type { LauncherClient } from '../../support/launcher-client.ts';
import type { Authority } from '../../support/peers.ts';
import { authority } from '../../support/peers.ts';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, startPod, syncRequest } from '../launcher/support.ts';

jest.setTimeout(180_000);

/** From the controller to a real guest: through the node worker's listener, the launcher, libvirt and QEMU. */
let files: string;
let ca: Authority;
const disposals: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  files = await mkdtemp('/tmp/gg-');
  ca = authority(files, 'ca');
});
afterAll(() => rm(files, { recursive: true }));
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
  await disposeAll();
});

type Started = TestGuestAccess & { client: LauncherClient };

/** A guest that runs, with its reports told to the node worker as there. */
const start = async (options: Partial<TestGuestAccessOptions> = {}): Promise<Started> => {
  const { pod: launcherPod, client } = await startPod();
  const pods = await podsDirectoryWith(launcherPod);
  disposals.push(() => rm(pods, { recursive: true }));
  const access = await startGuestAccess({ ca, pods, vmi: launcherPod.vmi, podUid: launcherPod.uid, ...options });
  disposals.push(access.stop);
  const volumes = [{ name: 'data', emptyDisk: { capacity: '16Mi' } }];
  await client.report('SyncVMI', syncRequest(launcherPod, { volumes }));
  return { ...access, client };
};

test('the console is used, taken over by the next client, and kept by one who asks not to be disturbed', async () => {
  const { guests, guest, node, client } = await start();
  const stream = await guests.open(guest, 'console', {});
  const first = consoleOver(stream);
  await first.awaitShell();
  first.type('echo one-$((6*7))');
  await first.waitFor('one-42');

  await expect(guests.open(guest, 'console', { preserveSession: 'true' })).rejects.toMatchObject({ status: 409 });
  const next = await guests.open(guest, 'console', {});
  expect(await ended(stream)).toBe(true);
  const second = consoleOver(next);
  await second.awaitShell();
  second.type('echo two-$((6*7))');
  await second.waitFor('two-42');
  expect(node.streams()).toEqual({ console: 1, vnc: 0, portforward: 0 });
  second.close();
  await until('the node worker noticed', () => node.streams().console === 0);

  const last = await guests.open(guest, 'console', { preserveSession: 'true' });
  await client.report('KillVMI');
  expect(await ended(last)).toBe(true);
  await expect(guests.open(guest, 'console', {})).rejects.toMatchObject({ status: 409 });
});

test('the display speaks VNC, and its picture is PNG', async () => {
  const { guests, guest } = await start();
  const stream = await guests.open(guest, 'vnc', {});
  expect(String((await once(stream, 'data'))[0])).toMatch(/^RFB 003\.00[38]\n/);
  stream.destroy();
  const { status, bytes, contentType } = await guests.call(guest, 'vncScreenshot', undefined, { moveCursor: 'true' });
  expect([status, contentType, bytes?.subarray(1, 4).toString()]).toEqual([200, 'image/png', 'PNG']);
});

test('a guest is paused, asked, frozen, rebooted; what its state forbids is a conflict', async () => {
  const { guests, guest, client } = await start();
  const { reports } = client.watch();
  await expect(guests.call(guest, 'userlist')).rejects.toMatchObject({ status: 409 });
  await agentConnected(reports);
  const { hostname } = await until('the host name is known', () => {
    const last = reports.at(-1)?.agent;
    return last?.hostname === undefined ? undefined : { hostname: last.hostname };
  });
  expect(await guests.call(guest, 'guestosinfo')).toMatchObject({
    status: 200,
    body: {
      guestAgentVersion: expect.any(String),
      hostname,
      os: { id: expect.any(String), kernelRelease: expect.any(String) },
      timezone: expect.stringMatching(/, -?\d+$/),
      supportedCommands: expect.arrayContaining([{ name: 'guest-ping', enabled: true }]),
      userList: [],
      fsInfo: { disks: [expect.objectContaining({ diskName: 'vda', mountPoint: '/data', fileSystemType: 'ext4' })] },
    },
  });
  expect(await guests.call(guest, 'userlist')).toEqual({ status: 200, body: { metadata: {}, items: [] } });
  expect(await guests.call(guest, 'filesystemlist')).toMatchObject({
    body: { items: [{ mountPoint: '/data', totalBytes: expect.any(Number), disk: [{ busType: 'virtio' }] }] },
  });

  await guests.call(guest, 'freeze', { unfreezeTimeout: '5m0s' });
  await until('frozen', () => reports.at(-1)?.agent.fsFreezeStatus === 'frozen');
  expect(await guests.call(guest, 'guestosinfo')).toMatchObject({
    body: { fsFreezeStatus: 'frozen', hostname },
  });
  await guests.call(guest, 'unfreeze');
  await until('thawed', () => reports.at(-1)?.agent.fsFreezeStatus === undefined);

  await guests.call(guest, 'pause');
  expect(await client.report('GetDomain')).toMatchObject({ state: 'paused', pausedBy: 'user' });
  for (const call of ['softreboot', 'reset', 'userlist', 'freeze'] as const) {
    await expect(guests.call(guest, call)).rejects.toMatchObject({ status: 409 });
  }
  await guests.call(guest, 'unpause');
  expect(await client.report('GetDomain')).toMatchObject({ state: 'running' });
  expect(await guests.call(guest, 'reset')).toEqual({ status: 200 });
});
