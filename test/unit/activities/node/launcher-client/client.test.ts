import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Launcher } from '../../../../../activities/node/launcher-client/client.ts';
import { launchersIn } from '../../../../../activities/node/launcher-client/client.ts';
import { commandSocket, lastReport } from '../../../../../activities/node/launcher-client/sockets.ts';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import type { LauncherServer } from '../../../../support/launcher-server.ts';
import { report, startLauncher } from '../../../../support/launcher-server.ts';
import { until } from '../../../../support/until.ts';

const uid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';
let pods: string;
let server: LauncherServer;
let connected: Launcher[];

beforeEach(async () => {
  pods = await mkdtemp(join(tmpdir(), 'p-'));
  server = await startLauncher(pods, uid);
  connected = [];
});
afterEach(async () => {
  for (const launcher of connected) launcher.close();
  server.stop();
  await rm(pods, { recursive: true });
});

const connect = async (signal?: AbortSignal): Promise<Launcher> => {
  const launcher = await launchersIn(pods, 'node-a').connect(uid, signal);
  connected.push(launcher);
  return launcher;
};

test('a command goes out as the contract says, and its report is stamped with Pod and node', async () => {
  server.current = report('what the launcher believes', { state: 'running' });
  const launcher = await connect();
  const answer = await launcher.syncVMI({
    vmiUid: 'vmi-uid',
    vmiJson: '{}',
    tokenEpoch: 7,
    hostJson: '{}',
    paused: true,
  });
  expect(answer).toMatchObject({ state: 'running', podUid: uid, node: 'node-a' });
  expect(server.received.map(({ method }) => method)).toEqual(['Handshake', 'SyncVMI']);
  expect(server.received[1]?.request).toEqual({
    vmiUid: 'vmi-uid',
    vmiJson: '{}',
    tokenEpoch: 7,
    hostJson: '{}',
    paused: true,
  });
});

test('a deadline travels to the millisecond', async () => {
  const launcher = await connect();
  await launcher.shutdownVMI('vmi-uid', new Date('2026-11-29T12:00:30.123Z'));
  expect(server.received[1]?.request).toEqual({
    vmiUid: 'vmi-uid',
    deadlineMs: Date.parse('2026-11-29T12:00:30.123Z'),
  });
});

test.each([
  [status.UNAVAILABLE, 'LauncherUnreachable', false],
  [status.UNIMPLEMENTED, 'LauncherTooOld', true],
  [status.FAILED_PRECONDITION, 'StaleToken', true],
  [status.INVALID_ARGUMENT, 'DomainRejected', true],
  [status.INTERNAL, 'DomainFailed', false],
  [status.PERMISSION_DENIED, 'Unknown', false],
])('status %s is %s', async (code, type, nonRetryable) => {
  server.refuse('KillVMI', code, 'the reason');
  const launcher = await connect();
  await expect(launcher.killVMI('vmi-uid')).rejects.toMatchObject({
    type,
    nonRetryable,
    message: expect.stringMatching(/KillVMI.*the reason/),
  });
});

test('a socket on which nobody listens, and none at all, are unreachable', async () => {
  server.stop();
  await expect(connect()).rejects.toMatchObject({ type: 'LauncherUnreachable' });
  await rm(commandSocket(pods, uid), { force: true });
  await expect(connect()).rejects.toMatchObject({ type: 'LauncherUnreachable', message: expect.stringMatching(uid) });
});

test('a link in place of the socket is not followed', async () => {
  const other = await startLauncher(pods, uid.replace('0f', '1f'));
  await rm(commandSocket(pods, uid), { force: true });
  await symlink(commandSocket(pods, other.podUid), commandSocket(pods, uid));
  await expect(connect()).rejects.toMatchObject({ type: 'LauncherUnreachable' });
  expect(other.received).toEqual([]);
  other.stop();
});

test('another Pod’s launcher is refused', async () => {
  const handshake = {
    protocol: 1,
    release: 'x',
    namespace: 'n',
    name: 'n',
    vmiUid: 'v',
    podUid: 'other',
    launcherEpoch: 1,
  };
  server.answer('Handshake', handshake);
  await expect(connect()).rejects.toMatchObject({ type: 'StaleToken', message: expect.stringMatching(/other/) });
});

test.each([
  ['no JSON', 'garbage'],
  ['an unknown state', JSON.stringify(report(uid, { state: 'flying' as never }))],
  ['no VMI', JSON.stringify({ ...report(uid), vmi: undefined })],
])('a reply with %s is refused', async (_, reportJson) => {
  server.answer('GetDomain', { reportJson });
  const launcher = await connect();
  await expect(launcher.getDomain('vmi-uid')).rejects.toThrow();
});

test('a cancelled command ends at once', async () => {
  const over = new AbortController();
  const launcher = await connect(over.signal);
  over.abort();
  await expect(launcher.getDomain('vmi-uid')).rejects.toThrow(/ancelled/);
});

test('events come newest first, then as they happen, and end with the signal', async () => {
  const over = new AbortController();
  const launcher = await connect();
  const seen: DomainReport[] = [];
  const reading = (async () => {
    for await (const one of launcher.watchEvents({ signal: over.signal })) seen.push(one);
  })();
  await until('first report', () => seen.length === 1);
  server.say({ state: 'shuttingDown' });
  server.say({ state: 'shutoff', end: 'acpiShutdown' });
  await until('all reports', () => seen.length === 3);
  expect(seen.map(({ state }) => state)).toEqual(['running', 'shuttingDown', 'shutoff']);
  expect(seen[2]).toMatchObject({ end: 'acpiShutdown', node: 'node-a', sequence: { epoch: 1, n: 3 } });
  over.abort();
  await reading;
  await until('the server to be told', () => server.watchers() === 0);
});

test('a reader that resumes names the last report it has', async () => {
  const launcher = await connect();
  const over = new AbortController();
  const reading = (async () => {
    for await (const one of launcher.watchEvents({ after: { epoch: 1, n: 1 }, signal: over.signal })) return one;
    return undefined;
  })();
  await until('the watch', () => server.watchers() === 1);
  server.say({ state: 'paused' });
  expect(await reading).toMatchObject({ state: 'paused', sequence: { epoch: 1, n: 2 } });
  expect(server.received[1]?.request).toEqual({ resume: true, afterEpoch: 1, afterN: 1 });
});

test('a stream whose launcher dies fails as unreachable', async () => {
  const launcher = await connect();
  const reading = (async () => {
    for await (const _ of launcher.watchEvents({ signal: new AbortController().signal })) server.stop();
  })();
  await expect(reading).rejects.toMatchObject({ type: 'LauncherUnreachable' });
});

const state = (): string => join(pods, uid, 'volumes/kubernetes.io~empty-dir/state');

test('the last report is read from the state volume', async () => {
  await mkdir(state(), { recursive: true });
  expect(await lastReport(pods, uid)).toBeUndefined();
  await writeFile(
    join(state(), 'last-report.json'),
    JSON.stringify(report(uid, { state: 'shutoff', end: 'agentShutdown' })),
  );
  expect(await lastReport(pods, uid)).toMatchObject({ state: 'shutoff', end: 'agentShutdown' });
});

test.each([
  ['garbage', 'nope'],
  ['another shape', '{"state":"shutoff"}'],
  ['far too much', `"${'x'.repeat(300_000)}"`],
])('a state file with %s says nothing', async (_, content) => {
  await mkdir(state(), { recursive: true });
  await writeFile(join(state(), 'last-report.json'), content);
  expect(await lastReport(pods, uid)).toBeUndefined();
});

test('no state directory: nothing is known', async () => {
  expect(await lastReport(pods, 'gone')).toBeUndefined();
});
