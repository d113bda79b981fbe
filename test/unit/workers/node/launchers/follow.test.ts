import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { launchersIn } from '../../../../../activities/node/launcher-client/client.ts';
import type { PodProcess } from '../../../../../activities/node/pods/processes.ts';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import { discoverLaunchers } from '../../../../../workers/node/launchers/discovery.ts';
import type { SubscriptionPorts } from '../../../../../workers/node/launchers/subscription.ts';
import { followLauncher } from '../../../../../workers/node/launchers/subscription.ts';
import { report, startLauncher } from '../../../../support/launcher-server.ts';
import { until } from '../../../../support/until.ts';

const uid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';
const quiet = { info: () => {}, warn: () => {}, debug: () => {} };
const alive: PodProcess = { pid: 1, startTime: 1, command: 'launcher', cgroup: '' };

let pods: string;
let over: AbortController;
let seen: DomainReport[];
let processes: PodProcess[];
let ports: SubscriptionPorts;

beforeEach(async () => {
  pods = await mkdtemp(join(tmpdir(), 'p-'));
  over = new AbortController();
  seen = [];
  processes = [alive];
  ports = {
    node: 'node-a',
    pods,
    launchers: launchersIn(pods, 'node-a'),
    processes: { ofPod: () => Promise.resolve(processes) },
    report: (one) => void seen.push(one),
    answer: () => undefined,
    log: quiet,
    retryMs: { first: 5, most: 20 },
  };
});
afterEach(async () => {
  over.abort();
  await rm(pods, { recursive: true });
});

const leaveReport = async (over_: Partial<DomainReport>): Promise<void> => {
  const state = join(pods, uid, 'volumes/kubernetes.io~empty-dir/state');
  await mkdir(state, { recursive: true });
  await writeFile(join(state, 'last-report.json'), JSON.stringify(report(uid, over_)));
};

const sequences = (): string[] => seen.map(({ sequence }) => `${sequence.epoch}.${sequence.n}`);

test('a launcher that is being started is followed from what its starter was told on', async () => {
  const server = await startLauncher(pods, uid);
  const { promise, resolve } = Promise.withResolvers<DomainReport | undefined>();
  ports.answer = () => promise;
  const following = followLauncher(uid, ports, over.signal);
  server.say({ state: 'running' });
  expect(server.received).toEqual([]);
  ports.answer = () => undefined;
  resolve({ ...server.current, podUid: uid, node: 'node-a' });
  await until('somebody who watches', () => server.watchers() === 1);
  server.say({ state: 'paused' });
  await until('a report', () => seen.length > 0);
  expect(seen.map(({ state }) => state)).toEqual(['paused']);
  over.abort();
  await following;
});

test('a launcher whose start has failed is followed from its newest report on', async () => {
  await startLauncher(pods, uid);
  ports.answer = () => Promise.resolve(undefined);
  const following = followLauncher(uid, ports, over.signal);
  await until('its report', () => seen.length === 1);
  over.abort();
  await following;
});

test('a launcher is followed from its newest report on', async () => {
  const server = await startLauncher(pods, uid);
  const following = followLauncher(uid, ports, over.signal);
  await until('the first report', () => seen.length === 1);
  server.say({ state: 'paused' });
  await until('the second report', () => seen.length === 2);
  expect(seen[1]).toMatchObject({ state: 'paused', podUid: uid, node: 'node-a' });
  over.abort();
  await following;
  server.stop();
});

test('a launcher that restarts is taken up again: nothing twice, the new epoch counts on', async () => {
  const first = await startLauncher(pods, uid);
  void followLauncher(uid, ports, over.signal);
  await until('the first report', () => seen.length === 1);
  first.stop();
  const second = await startLauncher(pods, uid, 2);
  await until('the report of the new launcher', () => seen.length === 2);
  expect(sequences()).toEqual(['1.1', '2.1']);
  expect(second.received.at(-1)?.request).toEqual({ resume: true, afterEpoch: 1, afterN: 1 });
  second.stop();
});

test('that no domain is there yet is told once', async () => {
  const server = await startLauncher(pods, uid);
  void followLauncher(uid, ports, over.signal);
  await until('the first report', () => seen.length === 1);
  server.say({ state: 'none' });
  await until('that nothing is there', () => seen.at(-1)?.state === 'none');
  server.say({ state: 'none', tokenEpoch: 1 });
  server.say({ state: 'paused' });
  await until('what comes of it', () => seen.at(-1)?.state === 'paused');
  expect(seen.filter(({ state }) => state === 'none')).toHaveLength(1);
  server.stop();
});

test('whoever waits for a launcher is not told that it is there, only what comes of it', async () => {
  const never = Promise.withResolvers<undefined>();
  let awaited = false;
  ports.answer = (podUid) => (awaited && podUid === uid ? never.promise : undefined);
  const server = await startLauncher(pods, uid);
  void followLauncher(uid, ports, over.signal);
  await until('somebody follows', () => seen.length === 1);
  awaited = true;
  server.say({ state: 'none', tokenEpoch: 1 });
  server.say({ state: 'paused' });
  await until('what comes of it', () => seen.at(-1)?.state === 'paused');
  expect(seen.map(({ state }) => state)).not.toContain('none');
  server.stop();
});

test('what a launcher said last before its Pod ended is delivered, and the following is over', async () => {
  const server = await startLauncher(pods, uid);
  const following = followLauncher(uid, ports, over.signal);
  await until('the first report', () => seen.length === 1);
  await leaveReport({ sequence: { epoch: 1, n: 9 }, state: 'shutoff', end: 'acpiShutdown' });
  processes = [];
  server.stop();
  await following;
  expect(seen.at(-1)).toMatchObject({ state: 'shutoff', end: 'acpiShutdown', node: 'node-a', sequence: { n: 9 } });
});

test('a Pod that ended while nobody looked is told of by what it left behind', async () => {
  processes = [];
  await startLauncher(pods, uid).then((server) => server.stop());
  await leaveReport({ state: 'shutoff', end: 'guestShutdown' });
  await followLauncher(uid, ports, over.signal);
  expect(seen).toMatchObject([{ state: 'shutoff', end: 'guestShutdown', podUid: uid }]);
});

test('what a launcher said last is told while containers of images keep its Pod alive', async () => {
  await startLauncher(pods, uid).then((server) => server.stop());
  await leaveReport({ state: 'shutoff', end: 'guestShutdown' });
  void followLauncher(uid, ports, over.signal);
  await until('the report', () => seen.length === 1);
  expect(seen).toMatchObject([{ state: 'shutoff', end: 'guestShutdown' }]);
});

test('a Pod whose first process is still to come is waited for', async () => {
  processes = [];
  await mkdir(join(pods, uid, 'volumes/kubernetes.io~empty-dir/sockets'), { recursive: true });
  let looks = 0;
  ports.processes = { ofPod: () => Promise.resolve(((looks += 1), [])) };
  void followLauncher(uid, ports, over.signal);
  await until('several looks', () => looks > 3);
  const server = await startLauncher(pods, uid);
  await until('its first report', () => seen.length === 1);
  server.stop();
});

test('a launcher is taken up the moment that it gets ready, however long it took', async () => {
  await mkdir(join(pods, uid, 'volumes/kubernetes.io~empty-dir/sockets'), { recursive: true });
  let looks = 0;
  ports.processes = { ofPod: () => Promise.resolve(((looks += 1), [alive])) };
  void followLauncher(uid, { ...ports, retryMs: { first: 600_000, most: 600_000 } }, over.signal);
  await until('it to wait', () => looks === 1);
  const server = await startLauncher(pods, uid);
  await until('its first report', () => seen.length === 1, { timeoutMs: 5_000 });
  server.stop();
});

test('a Pod directory that goes away ends the following', async () => {
  processes = [];
  await mkdir(join(pods, uid, 'volumes/kubernetes.io~empty-dir/sockets'), { recursive: true });
  const following = followLauncher(uid, ports, over.signal);
  await rm(join(pods, uid), { recursive: true });
  await following;
  expect(seen).toEqual([]);
});

test('launchers are found: those that are there, and those that come; other Pods are left alone', async () => {
  const server = await startLauncher(pods, uid);
  await mkdir(join(pods, uid.replace('0f', '2f'), 'volumes/kubernetes.io~empty-dir/data'), { recursive: true });
  const followed: string[] = [];
  const discovery = discoverLaunchers({
    pods,
    follow: async (podUid, signal) => {
      followed.push(podUid);
      await followLauncher(podUid, ports, signal);
    },
    log: quiet,
    signal: over.signal,
    rescanMs: 60_000,
  });
  await until('the one that is there', () => followed.length === 1);
  const later = await startLauncher(pods, uid.replace('0f', '1f'));
  await until('the one that came', () => followed.length === 2, { timeoutMs: 5_000 });
  expect(followed).toEqual([uid, later.podUid]);
  expect(discovery.following()).toBe(2);
  over.abort();
  await discovery.done;
  for (const one of [server, later]) one.stop();
});

test('a launcher that was followed to its end is not followed again; a broken following is', async () => {
  await mkdir(join(pods, uid, 'volumes/kubernetes.io~empty-dir/sockets'), { recursive: true });
  let follows = 0;
  const discovery = discoverLaunchers({
    pods,
    follow: () => ((follows += 1), follows === 1 ? Promise.reject(new Error('broke')) : Promise.resolve()),
    log: quiet,
    signal: over.signal,
    rescanMs: 5,
  });
  await until('the second following', () => follows === 2);
  let looks = 0;
  await until('several looks', () => (discovery.lookNow(), ++looks > 10));
  expect(follows).toBe(2);
});
