import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import type { StopPorts } from '../../../../../activities/node/fence/stop-domains.ts';
import { recordLease } from '../../../../../activities/facts/fence-record.ts';
import type { Lease, Node } from '../../../../../api/kubernetes/types.ts';
import type { FenceGuard } from '../../../../../workers/node/fence/guard.ts';
import { guardFence } from '../../../../../workers/node/fence/guard.ts';
import { until } from '../../../../support/until.ts';

const plain: Node = { metadata: { name: 'a', uid: 'n1' } };
const fenced: Node = {
  ...plain,
  spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
};
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

let pods: string;
let over: AbortController;
let guard: FenceGuard;
let node: Node | undefined;
let isDown: boolean;
let record: Lease | undefined;

beforeEach(async () => {
  pods = await mkdtemp(join(tmpdir(), 'pods-'));
  over = new AbortController();
  isDown = false;
  record = undefined;
});
afterEach(async () => {
  over.abort();
  await guard.done;
  await rm(pods, { recursive: true });
});

const start = (): void => {
  const get = (kind: string) =>
    isDown ? Promise.reject(new Error('the API server is down')) : Promise.resolve(kind === 'Node' ? node : record);
  const ports: StopPorts = {
    pods,
    kube: { get } as unknown as KubePort,
    launchers: { connect: () => Promise.reject(new Error('none')) },
    processes: {
      ofPod: () => Promise.resolve([]),
      seenOfPod: () => Promise.resolve([]),
      qemuOf: () => [],
      kill: () => undefined,
    },
  };
  guard = guardFence({ node: 'a', ports, log: quiet, signal: over.signal, retryMs: 10 });
};

test('a node without a fence serves and is open', async () => {
  node = plain;
  start();
  await guard.clear;
  expect(guard.isOpen()).toBe(true);
  expect(guard.check()).toEqual({ ok: true, detail: 'not fenced' });
});

test('nothing is served before the API server has said whether the node is fenced', async () => {
  node = plain;
  isDown = true;
  start();
  let isClear = false;
  void guard.clear.then(() => (isClear = true));
  await until('the reason', () => guard.check().detail.includes('the API server is down'));
  expect([isClear, guard.isOpen(), guard.check().ok]).toEqual([false, false, false]);
  isDown = false;
  await guard.clear;
  expect(guard.isOpen()).toBe(true);
});

test('a fenced node serves, for it can be asked, and takes no VMs until the fence is gone', async () => {
  node = fenced;
  start();
  await guard.clear;
  expect(guard.isOpen()).toBe(false);
  expect(guard.check().detail).toContain('out-of-service');
  node = plain;
  guard.saw(plain);
  await until('it is open', () => guard.isOpen());
});

test('a fence that comes while the worker lives closes the node', async () => {
  node = plain;
  start();
  await guard.clear;
  node = fenced;
  guard.saw(fenced);
  await until('it is closed', () => !guard.isOpen());
});

test('a node that was fenced takes no VMs before the controller has heard of it', async () => {
  node = plain;
  record = recordLease({ name: 'a' }, { by: 'operator', nodeUid: 'n1', bootId: 'b' }, '2026-01-01T00:00:00Z');
  start();
  await guard.clear;
  expect(guard.isOpen()).toBe(false);
  expect(guard.check().detail).toContain('until the controller has heard of it');
  record = undefined;
  guard.saw(plain);
  await until('it is open', () => guard.isOpen());
});
