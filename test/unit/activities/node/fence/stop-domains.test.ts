import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { leaseOf } from '../../../../../activities/facts/token.ts';
import type { Token } from '../../../../../activities/facts/token.ts';
import type { OwnFence } from '../../../../../activities/fencing.ts';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import type { StopPorts } from '../../../../../activities/node/fence/stop-domains.ts';
import { isStale, stopStaleDomains } from '../../../../../activities/node/fence/stop-domains.ts';
import type { Launcher } from '../../../../../activities/node/launcher-client/client.ts';
import type { PodProcess } from '../../../../../activities/node/pods/processes.ts';
import { podVolume } from '../../../../../activities/node/launcher-client/sockets.ts';
import type { RunToken } from '../../../../../api/contract/activities.ts';

const POD = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const held = (podUid?: string): RunToken => ({
  epoch: 2,
  holder: { vmiUid: 'i', ...(podUid === undefined ? {} : { podUid }) },
});
const moving = (podUid: string): RunToken => ({
  ...held(OTHER),
  moving: { migration: { name: 'm', uid: 'm' }, podUid, podName: 'p', node: 'a' },
});

test.each<[string, RunToken | undefined, OwnFence['kind'], boolean]>([
  ['the token names the Pod', held(POD), 'none', false],
  ['the token names the Pod, after a fence', held(POD), 'earlier', false],
  ['the token names the Pod, under a fence: it may pass on at any moment', held(POD), 'standing', true],
  ['the token has passed on to another Pod', held(OTHER), 'none', true],
  ['the token has passed on to another Pod, after a fence', held(OTHER), 'earlier', true],
  ['somebody takes the token', held(), 'none', true],
  ['the token is free', { epoch: 2 }, 'none', true],
  ['a migration moves the domain here', moving(POD), 'none', false],
  ['a migration moves it elsewhere', moving('33'), 'none', true],
  ['there is no token', undefined, 'none', false],
  ['there is no token, after a fence', undefined, 'earlier', true],
  ['there is no token, under a fence', undefined, 'standing', true],
])('a domain while %s', (_, token, fence, stale) => {
  expect(isStale(POD, token, fence)).toBe(stale);
});

let pods: string;
beforeEach(async () => {
  pods = await mkdtemp(join(tmpdir(), 'pods-'));
  for (const uid of [POD, OTHER]) await mkdir(podVolume(pods, uid, 'sockets'), { recursive: true });
});
afterEach(() => rm(pods, { recursive: true }));

const qemu: PodProcess = { pid: 4, startTime: 1, command: 'qemu-system-x86', cgroup: '' };
const none: OwnFence = { kind: 'none' };
const standing: OwnFence = { kind: 'standing', fence: { by: 'operator', nodeUid: 'n', bootId: 'b' } };

/** One Pod runs a QEMU, whose launcher answers or not; a token names a Pod. */
const machine = ({ answers = true, token }: { answers?: boolean; token?: Token }) => {
  const done: string[] = [];
  let runs = true;
  const end = (how: string): void => {
    done.push(how);
    runs = false;
  };
  const launcher = {
    handshake: { namespace: 'n', name: 'v', vmiUid: 'i' },
    killVMI: () => Promise.resolve(end('killVMI')),
    close: () => undefined,
  } as unknown as Launcher;
  const lease = token && leaseOf(token, { namespace: 'n', name: 'v' });
  const ports: StopPorts = {
    pods,
    kube: { get: () => Promise.resolve(lease) } as unknown as KubePort,
    launchers: { connect: () => (answers ? Promise.resolve(launcher) : Promise.reject(new Error('silent'))) },
    processes: {
      ofPod: () => Promise.resolve([]),
      seenOfPod: () => Promise.resolve([]),
      qemuOf: (uid) => (uid === POD && runs ? [qemu] : []),
      kill: () => end('SIGKILL'),
    },
  };
  return { ports, done };
};
const tokenOf = (uid: string): Token => ({ epoch: 2, holder: { vmiUid: 'i', attempt: 1, pod: { name: 'p', uid } } });

test('a domain whose token has passed on is destroyed by its launcher', async () => {
  const { ports, done } = machine({ token: tokenOf(OTHER) });
  expect((await stopStaleDomains(ports, none)).map(({ podUid }) => podUid)).toEqual([POD]);
  expect(done).toEqual(['killVMI']);
});

test('a domain whose token names its Pod runs on', async () => {
  const { ports, done } = machine({ token: tokenOf(POD) });
  expect(await stopStaleDomains(ports, none)).toEqual([]);
  expect(done).toEqual([]);
});

test('under a fence the QEMU of a launcher that does not answer is killed', async () => {
  const { ports, done } = machine({ answers: false });
  expect((await stopStaleDomains(ports, standing)).map(({ podUid }) => podUid)).toEqual([POD]);
  expect(done).toEqual(['SIGKILL']);
});

test('without a fence a Pod that tells nothing of itself is left alone', async () => {
  const { ports, done } = machine({ answers: false });
  expect(await stopStaleDomains(ports, none)).toEqual([]);
  expect(done).toEqual([]);
});
