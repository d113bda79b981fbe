import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectInPod, placeInPod } from '../../../../../activities/node/migration-proxy/pod-sockets.ts';

test.each([
  ['/var/run/kubevirt/sockets/mig-memory.sock', { volume: 'sockets', file: 'mig-memory.sock' }],
  ['/var/run/libvirt/run/libvirt/libvirt-sock', { volume: 'libvirt', file: 'run/libvirt/libvirt-sock' }],
  ['/var/run/libvirt-else/sock', undefined],
  ['/var/run/kubevirt-private/sock', undefined],
  ['/etc/passwd', undefined],
  ['mig-memory.sock', undefined],
])('%s in a Pod is %o', (path, place) => {
  expect(placeInPod(path)).toEqual(place);
});

let pods: string;
let servers: Server[];
const uid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';

beforeEach(async () => {
  pods = await mkdtemp(join(tmpdir(), 'p-'));
  servers = [];
  await mkdir(volume('sockets'), { recursive: true });
});
afterEach(async () => {
  for (const server of servers) server.close();
  await rm(pods, { recursive: true });
});

const volume = (name: string): string => join(pods, uid, 'volumes/kubernetes.io~empty-dir', name);

const listen = async (path: string, says: string): Promise<void> => {
  const server = createServer((socket) => socket.end(says));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
};

const ask = async (path: string): Promise<string> => text(await connectInPod(pods, uid, path, 1_000));

test('a socket is reached, also where its path is too long for a socket’s address', async () => {
  const deep = join('d'.repeat(60), 'e'.repeat(60));
  await mkdir(join(volume('libvirt-runtime'), deep), { recursive: true });
  const short = join(pods, 'short');
  await symlink(join(volume('libvirt-runtime'), deep), short);
  await listen(join(short, 'libvirt-sock'), 'hello');
  expect(await ask(`/var/run/libvirt/${deep}/libvirt-sock`)).toBe('hello');
});

test('a link in place of the socket leads nowhere outside the volume', async () => {
  const outside = join(pods, 'host.sock');
  await listen(outside, 'the host');
  await symlink(outside, join(volume('sockets'), 'mig-memory.sock'));
  await expect(ask('/var/run/kubevirt/sockets/mig-memory.sock')).rejects.toThrow(/does not exist/);
});

test('a directory that is a link leads nowhere outside the volume', async () => {
  await mkdir(volume('libvirt-runtime'), { recursive: true });
  await listen(join(pods, 'libvirt-sock'), 'the host');
  await symlink(pods, join(volume('libvirt-runtime'), 'run'));
  await expect(ask('/var/run/libvirt/run/libvirt-sock')).rejects.toThrow(/does not exist/);
});

test('what is no socket is said', async () => {
  await writeFile(join(volume('sockets'), 'mig-block.sock'), '');
  await expect(ask('/var/run/kubevirt/sockets/mig-block.sock')).rejects.toThrow(/not a socket/);
});

test('a Pod that is gone is said', async () => {
  await expect(connectInPod(pods, 'no-such-pod', '/var/run/kubevirt/sockets/a.sock', 1_000)).rejects.toThrow(/ENOENT/);
});

test('a link within the volume may lead to the socket', async () => {
  await listen(join(volume('sockets'), 'a.sock'), 'hello');
  await symlink('a.sock', join(volume('sockets'), 'mig-block.sock'));
  expect(await ask('/var/run/kubevirt/sockets/mig-block.sock')).toBe('hello');
});
