import { afterEach, expect, jest, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SERIAL_LOG, SERIAL_SOCKET, VNC_SOCKET } from '../../../api/launcher/paths.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { openConsole } from '../../support/console.ts';
import { LauncherClient } from '../../support/launcher-client.ts';
import type { LauncherPod } from '../../support/launcher-pod.ts';
import { testHost, testVmi } from '../../support/test-vmi.ts';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, qemu, reportWhere, startPod, syncRequest, track } from './support.ts';

jest.setTimeout(240_000);
afterEach(disposeAll);

const inLibvirtVolume = (pod: LauncherPod, path: string): string => join(pod.volume('libvirt'), basename(path));
const isConnected = ({ agent }: DomainReport): boolean => agent.connected;

/** Waits for the agent of a guest that has booted again. */
const bootedAgain = async (reports: DomainReport[], since: number): Promise<void> => {
  await until('the agent is gone', () => reports.slice(since).some((report) => !isConnected(report)), {
    timeoutMs: 60_000,
  });
  await until('the agent is back', () => reports.at(-1)?.agent.connected === true, { timeoutMs: 60_000 });
};

test('a guest is paused and unpaused, and what its state forbids is refused as such', async () => {
  const { pod, client } = await startPod();
  for (const method of [
    'PauseVMI',
    'UnpauseVMI',
    'ResetVMI',
    'SoftRebootVMI',
    'GetScreenshot',
    'GetUsers',
    'FreezeVMI',
  ]) {
    expect([method, (await client.refusal(method))?.code]).toEqual([method, status.FAILED_PRECONDITION]);
  }
  await client.report('SyncVMI', syncRequest(pod));
  for (const repeated of [1, 2]) {
    expect([repeated, await client.report('PauseVMI')]).toMatchObject([
      repeated,
      { state: 'paused', pausedBy: 'user' },
    ]);
  }
  for (const method of ['ResetVMI', 'SoftRebootVMI']) {
    expect(await client.refusal(method)).toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: 'the guest is paused',
    });
  }
  for (const repeated of [1, 2]) {
    expect([repeated, await client.report('UnpauseVMI')]).toMatchObject([repeated, { state: 'running' }]);
  }
});

test('the console answers, is found under the name that KubeVirt gives it, and is logged while nobody is there', async () => {
  const { pod, client } = await startPod();
  await client.report('SyncVMI', syncRequest(pod));
  const socket = inLibvirtVolume(pod, SERIAL_SOCKET);
  const first = openConsole(socket);
  await first.awaitShell();
  first.type('echo a-$((6*7))');
  await first.waitFor('a-42');
  // The answer comes when we are gone.
  first.type('(sleep 1; echo b-$((6*7)) > /dev/ttyS0) &');
  await first.waitFor('/dev/ttyS0');
  first.close();
  const log = (): string => readFileSync(inLibvirtVolume(pod, SERIAL_LOG), 'latin1');
  await until('the log has what nobody saw', () => log().includes('b-42'));

  const second = openConsole(socket);
  await second.awaitShell();
  second.close();

  const kubevirts = join(pod.volume('private'), pod.vmi.uid);
  expect(readlinkSync(join(kubevirts, 'virt-serial0'))).toBe(SERIAL_SOCKET);
  expect(readlinkSync(join(kubevirts, 'virt-vnc'))).toBe(VNC_SOCKET);
  expect(lstatSync(inLibvirtVolume(pod, VNC_SOCKET)).isSocket()).toBe(true);
});

test('a guest reboots by its agent, by ACPI when there is none, and by reset; a crash after that is still a crash', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(reports);
  const [before] = qemu(pod);

  let since = reports.length;
  await client.report('SoftRebootVMI');
  await bootedAgain(reports, since);

  since = reports.length;
  await client.report('ResetVMI');
  await bootedAgain(reports, since);

  const shell = openConsole(inLibvirtVolume(pod, SERIAL_SOCKET));
  await shell.awaitShell();
  shell.type(
    'grep -v qemu-ga /etc/inittab > /run/tab; cat /run/tab > /etc/inittab; kill -HUP 1; sleep 1; killall qemu-ga',
  );
  await reportWhere(reports, 'no agent', (report) => reports.indexOf(report) >= since + 1 && !isConnected(report));
  await until('no agent stays away', () => reports.at(-1)?.agent.connected === false);
  shell.close();
  await client.report('SoftRebootVMI');
  await until('the guest is back, with its agent', () => reports.at(-1)?.agent.connected === true, {
    timeoutMs: 60_000,
  });
  expect(reports.at(-1)).toMatchObject({ state: 'running' });
  expect(qemu(pod)).toEqual([before]);

  pod.kill('/usr/bin/qemu-system');
  const ended = await reportWhere(reports, 'the end', ({ end }) => end !== undefined);
  expect(ended).toMatchObject({ state: 'crashed', end: 'crashed' });
});

test('file systems freeze, say so, and thaw on request or in time, also over a restart of the launcher', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  const volumes = [{ name: 'data', emptyDisk: { capacity: '16Mi' } }];
  await client.report('SyncVMI', syncRequest(pod, { volumes }));
  await agentConnected(reports);
  const host = await reportWhere(reports, 'the host name', ({ agent }) => agent.hostname !== undefined);
  const frozen = async (method: string, request = {}): Promise<unknown> =>
    JSON.parse((await client.call<{ json: string }>(method, request)).json);
  const isFrozen = (): boolean => reports.at(-1)?.agent.fsFreezeStatus === 'frozen';

  expect(JSON.parse((await client.call<{ json: string }>('GetFilesystems')).json)).toEqual(
    expect.arrayContaining([expect.objectContaining({ mountpoint: '/data', type: 'ext4' })]),
  );
  expect(await frozen('FreezeVMI', { thawAfterSeconds: 300 })).toEqual({ filesystems: 1 });
  await until('the report says frozen', isFrozen);
  expect(reports.at(-1)?.agent.hostname).toBe(host.agent.hostname);
  expect(await frozen('FreezeVMI', { thawAfterSeconds: 300 })).toEqual({ filesystems: 0 });
  expect(await client.refusal('GetUsers')).toMatchObject({
    code: status.FAILED_PRECONDITION,
    details: expect.stringContaining('frozen'),
  });
  expect(await frozen('UnfreezeVMI')).toEqual({ filesystems: 1 });
  await until('the report says thawed', () => !isFrozen());
  expect(await frozen('UnfreezeVMI')).toEqual({ filesystems: 0 });

  await frozen('FreezeVMI', { thawAfterSeconds: 12 });
  pod.kill('main.ts');
  client.close();
  await until('the launcher is back', () => pod.output.includes('"epoch":2'), { timeoutMs: 20_000 });
  const other = new LauncherClient(pod.commandSocket, pod.vmi.uid);
  track({ dispose: () => Promise.resolve(other.close()) });
  const again = other.watch();
  await until('frozen after the restart', () => again.reports.at(-1)?.agent.fsFreezeStatus === 'frozen');
  await until('thawed in time', () => {
    const last = again.reports.at(-1)?.agent;
    return last?.connected === true && last.fsFreezeStatus === undefined;
  });
  const users = JSON.parse((await other.call<{ json: string }>('GetUsers')).json) as unknown;
  expect(Array.isArray(users)).toBe(true);
  const info = JSON.parse((await other.call<{ json: string }>('GetGuestInfo')).json) as object;
  expect(info).toMatchObject({
    connected: true,
    supportedCommands: expect.arrayContaining([expect.objectContaining({ name: 'guest-ping', enabled: true })]),
  });
});

test('the display is shown as PNG; a VMI without one is refused', async () => {
  const { pod, client } = await startPod();
  await client.report('SyncVMI', syncRequest(pod));
  for (const movePointer of [false, true]) {
    const { png } = await client.call<{ png: Buffer }>('GetScreenshot', { movePointer });
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.readUInt32BE(16)).toBeGreaterThanOrEqual(640);
  }

  const { pod: blind, client: other } = await startPod();
  const vmi = testVmi(blind.vmi);
  vmi.spec.domain.devices.autoattachGraphicsDevice = false;
  await other.report('SyncVMI', { vmiJson: JSON.stringify(vmi), hostJson: JSON.stringify(testHost), tokenEpoch: 1 });
  expect(await other.refusal('GetScreenshot')).toMatchObject({
    code: status.FAILED_PRECONDITION,
    details: expect.stringContaining('no display'),
  });
});
