import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { launchersIn } from '../../../activities/node/launcher-client/client.ts';
import { encodeFrame, readFrame } from '../../../activities/node/migration-proxy/frames.ts';
import type { RunningProxy } from '../../../activities/node/migration-proxy/index.ts';
import { migrationProxy } from '../../../activities/node/migration-proxy/index.ts';
import type { SourceSession, TargetSession } from '../../../activities/node/migration-proxy/port.ts';
import type { PeerCredentials, TlsCredentials } from '../../../api/contract/certificates.ts';
import { MIGRATION_CHANNELS } from '../../../api/launcher/migration.ts';
import type { MigrationChannel } from '../../../api/launcher/migration.ts';
import { startLauncher } from '../../support/launcher-server.ts';
import type { Authority } from '../../support/peers.ts';
import { authority, credentialsOf, noCredentials } from '../../support/peers.ts';
import type { ProxyProcessInput } from '../../support/proxy-process.ts';
import { until } from '../../support/until.ts';

jest.setTimeout(60_000);

/** Two node workers' proxies with real TLS on loopback, each with a Pod's directory; servers in the target's stand for libvirt and QEMU. */
const vmi = { namespace: 'default', name: 'vm', uid: 'vmi-uid' };
const migrationUid = randomUUID();
/** Short: a unix socket's path has at most 107 bytes. */
const sourcePod = { name: 'source', uid: 'source-pod-uid' };
const targetPod = { name: 'target', uid: 'target-pod-uid' };
const PROXY_PROCESS = new URL('../../support/proxy-process.ts', import.meta.url).pathname;
const SOCKETS = 'volumes/kubernetes.io~empty-dir/sockets';

let files: string;
let ca: Authority;
let otherCa: Authority;
let issued: Record<'node-a' | 'node-b' | 'node-c', TlsCredentials>;

beforeAll(async () => {
  files = await mkdtemp('/tmp/c-');
  ca = authority(files, 'ca');
  otherCa = authority(files, 'other');
  issued = {
    'node-a': ca.issue({ node: 'node-a' }),
    'node-b': ca.issue({ node: 'node-b' }),
    'node-c': ca.issue({ node: 'node-c' }),
  };
});
afterAll(() => rm(files, { recursive: true }));

interface Node {
  pods: string;
  proxy: RunningProxy;
  logged: { msg: string; reason?: string; kind?: string }[];
  stop: () => Promise<void>;
}

let base: string;
let nodes: Node[];
let servers: Server[];
let sockets: Set<Socket>;
let children: ChildProcess[];

const nodeWith = async (name: string, credentials: PeerCredentials): Promise<Node> => {
  const pods = join(base, name);
  for (const pod of [sourcePod, targetPod]) await mkdir(join(pods, pod.uid, SOCKETS), { recursive: true });
  const over = new AbortController();
  const logged: Node['logged'] = [];
  const proxy = migrationProxy({
    pods,
    address: '127.0.0.1',
    port: 0,
    directory: join(base, `${name}-migrations`),
    credentials,
    launchers: launchersIn(pods, name),
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line) as Node['logged'][0]) }),
    signal: over.signal,
  });
  await proxy.reopen();
  const node: Node = {
    pods,
    proxy,
    logged,
    async stop() {
      over.abort();
      for (const socket of sockets) socket.destroy();
      await proxy.done;
    },
  };
  nodes.push(node);
  return node;
};

const listening = async (name: string, credentials: PeerCredentials): Promise<Node> => {
  const node = await nodeWith(name, credentials);
  await until(`${name} to listen`, () => node.proxy.trouble() === undefined);
  return node;
};

const keep = <T extends Socket>(socket: T): T => {
  sockets.add(socket);
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  return socket;
};

/** Closed by the other side. */
const isOver = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;

const inPod = (channel: MigrationChannel): string => `/var/run/kubevirt/sockets/mig-${channel}.sock`;

/** Stands for libvirt or QEMU in the target Pod. */
const serveTarget = async (node: Node, channel: MigrationChannel, serve: (socket: Socket) => void): Promise<void> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(keep(socket)));
  servers.push(server);
  await new Promise<void>((resolve) =>
    server.listen(join(node.pods, targetPod.uid, SOCKETS, `mig-${channel}.sock`), resolve),
  );
};

/** Stands for libvirt or QEMU in the source Pod. */
const connectSource = (node: Node, channel: MigrationChannel): Socket =>
  keep(
    connect({
      path: join(node.pods, sourcePod.uid, SOCKETS, `mig-${channel}.sock`),
      allowHalfOpen: true,
    }),
  );

const targetSession = (over: Partial<TargetSession> = {}): TargetSession => ({
  role: 'target',
  migrationUid,
  vmi,
  pod: targetPod,
  sourceNode: 'node-a',
  sockets: { libvirt: inPod('libvirt'), memory: inPod('memory'), block: inPod('block') },
  ...over,
});

const sourceSession = (target: Node, over: Partial<SourceSession> = {}): SourceSession => ({
  role: 'source',
  migrationUid,
  vmi,
  pod: sourcePod,
  target: { node: 'node-b', ...target.proxy.endpoint() },
  ...over,
});

const ready = async (): Promise<{ source: Node; target: Node }> => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const target = await listening('node-b', credentialsOf(issued['node-b']));
  await target.proxy.admit(targetSession());
  await source.proxy.open(sourceSession(target));
  return { source, target };
};

const echo = (socket: Socket): void => void socket.pipe(socket);

beforeEach(async () => {
  base = await mkdtemp('/tmp/m-');
  [nodes, servers, sockets, children] = [[], [], new Set(), []];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const node of nodes) await node.stop();
  for (const server of servers) server.close();
  await rm(base, { recursive: true });
});

test('all channels carry bytes both ways, unchanged and in order', async () => {
  const { source, target } = await ready();
  for (const channel of MIGRATION_CHANNELS) await serveTarget(target, channel, echo);
  const unchanged = MIGRATION_CHANNELS.map(async (channel) => {
    const sent = randomBytes(3 * 1024 * 1024);
    const socket = connectSource(source, channel);
    socket.end(sent);
    return (await buffer(socket)).equals(sent);
  });
  expect(await Promise.all(unchanged)).toEqual([true, true, true]);
  const traffic = { sent: 9 * 1024 * 1024, received: 9 * 1024 * 1024 };
  await until('all channels to close', () => Object.values(source.proxy.stats().channels).every((open) => open === 0));
  expect(source.proxy.stats().traffic).toEqual(traffic);
  await until('the target to close too', () =>
    Object.values(target.proxy.stats().channels).every((open) => open === 0),
  );
  expect(target.proxy.stats().traffic).toEqual(traffic);
});

test('an end in one direction leaves the other open', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'libvirt', (socket) => {
    void text(socket).then((question) => {
      setTimeout(() => socket.end(`answer to ${question}`), 300);
    });
  });
  const socket = connectSource(source, 'libvirt');
  socket.end('question');
  expect(await text(socket)).toBe('answer to question');
});

test('who speaks first in the target’s Pod is heard', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'block', (socket) => socket.write('NBDMAGIC'));
  const socket = connectSource(source, 'block');
  const [first] = await new Promise<[Buffer]>((resolve) => socket.once('data', (data: Buffer) => resolve([data])));
  expect(first.toString()).toBe('NBDMAGIC');
});

test('the first of several connections of a channel is the first in the target too', async () => {
  const { source, target } = await ready();
  const order: Promise<string>[] = [];
  await serveTarget(target, 'memory', (socket) => {
    order.push(text(socket));
    socket.end();
  });
  const near = Array.from({ length: 8 }, () => connectSource(source, 'memory').resume());
  near.forEach((socket, index) => socket.end(String(index)));
  await until('all of them', () => order.length === near.length);
  expect(await order[0]).toBe('0');
  expect((await Promise.all(order)).sort()).toEqual(near.map((_, index) => String(index)));
});

test('a slow reader holds the sender up; memory stays bounded', async () => {
  const { source, target } = await ready();
  let reader: Socket | undefined;
  await serveTarget(target, 'memory', (socket) => {
    reader = socket;
    socket.pause();
  });
  const socket = connectSource(source, 'memory');
  const chunk = randomBytes(1024 * 1024);
  const before = process.memoryUsage().rss;
  const total = 256;
  let written = 0;
  const feed = (): void => {
    while (written < total) {
      written++;
      if (!socket.write(chunk)) return void socket.once('drain', feed);
    }
    socket.end();
  };
  feed();
  await until('the reader', () => reader !== undefined);
  let seen = -1;
  await until(
    'the flow to stop',
    () => {
      const still = seen === written;
      seen = written;
      return still;
    },
    { everyMs: 500 },
  );
  expect(written).toBeLessThan(total / 4);
  expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1024 * 1024);
  let received = 0;
  reader?.on('data', (data: Buffer) => (received += data.length)).resume();
  await until('everything to arrive', () => received === total * chunk.length);
});

test('a connection that breaks in one Pod breaks in the other', async () => {
  const { source, target } = await ready();
  let far: Socket | undefined;
  await serveTarget(target, 'memory', (socket) => (far = socket.resume()));
  const near = connectSource(source, 'memory').resume();
  near.write('x');
  await until('the connection', () => far !== undefined && far.bytesRead > 0);
  far?.destroy();
  await until('the break', () => isOver(near));
});

test('the socket in the source’s Pod is the launcher’s alone, replaces what stood there, and goes with the session', async () => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const target = await listening('node-b', credentialsOf(issued['node-b']));
  const directory = join(source.pods, sourcePod.uid, SOCKETS);
  const precious = join(base, 'precious');
  await writeFile(precious, '', { mode: 0o640 });
  await symlink(precious, join(directory, 'mig-memory.sock'));
  await source.proxy.open(sourceSession(target));
  for (const channel of MIGRATION_CHANNELS) {
    const { uid, gid, mode } = await stat(join(directory, `mig-${channel}.sock`));
    expect([uid, gid, mode & 0o777]).toEqual([107, 107, 0o600]);
  }
  const untouched = await stat(precious);
  expect([untouched.uid, untouched.mode & 0o777]).toEqual([0, 0o640]);
  await source.proxy.close(migrationUid);
  expect(await readdir(directory)).toEqual([]);
  await source.proxy.close(migrationUid);
});

test('opened again, connections that stand are left alone', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'libvirt', echo);
  const socket = connectSource(source, 'libvirt');
  socket.write('one ');
  await source.proxy.open(sourceSession(target));
  await target.proxy.admit(targetSession());
  socket.end('two');
  expect(await text(socket)).toBe('one two');
});

test('a session that is closed takes its connections with it, and lets nobody in any more', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'libvirt', echo);
  const socket = connectSource(source, 'libvirt');
  socket.write('x');
  await until('the echo', () => socket.read() !== null);
  await target.proxy.close(migrationUid);
  await until('the end', () => {
    socket.read();
    return isOver(socket);
  });
  const again = connectSource(source, 'libvirt').resume();
  await until('the refusal', () => isOver(again));
  expect(source.proxy.troubles(migrationUid)).toEqual([
    expect.stringMatching(/channel libvirt: .*node node-b.*no migration .* from node node-a is expected/),
  ]);
  expect(target.proxy.stats().refused.get('session')).toBe(1);
});

test('a session is admitted for one source node: another node’s worker is refused', async () => {
  const { target } = await ready();
  const stranger = await listening('node-c', credentialsOf(issued['node-c']));
  await expect(stranger.proxy.link(sourceSession(target)).inspect()).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(/no migration .* from node node-c is expected/),
  });
});

test('a target whose socket is not there is named', async () => {
  const { source } = await ready();
  const socket = connectSource(source, 'memory').resume();
  await until('the end', () => isOver(socket));
  expect(source.proxy.troubles(migrationUid)).toEqual([
    expect.stringMatching(/channel memory: .*target's socket cannot be reached: mig-memory\.sock does not exist/),
  ]);
});

test.each([
  ['another CA', () => otherCa.issue({ node: 'node-b' }), /certificate is of another CA/],
  [
    'an expired certificate',
    () => ca.issue({ node: 'node-b', from: '20200101000000Z', until: '20210101000000Z' }),
    /certificate has expired/,
  ],
  [
    'a certificate from the future',
    () => ca.issue({ node: 'node-b', from: '21000101000000Z', until: '21010101000000Z' }),
    /not valid yet/,
  ],
  ['the certificate of another node', () => issued['node-c'], /shows the certificate of node-c/],
  ['a certificate of no node', () => ca.issue({ san: 'DNS:node-b' }), /shows the certificate of no node/],
])('a target with %s is not spoken to', async (_, credentials, message) => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const target = await listening('node-b', credentialsOf(credentials()));
  await target.proxy.admit(targetSession());
  await expect(source.proxy.link(sourceSession(target)).resume()).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(message),
  });
});

/** Trusts the target's authority, so that its own certificate is what is looked at. */
const trusting = (credentials: TlsCredentials): TlsCredentials => ({ ...credentials, ca: ca.certificate });

test.each([
  ['another CA', () => otherCa.issue({ node: 'node-a' }), /certificate is of another CA/],
  [
    'an expired certificate',
    () => ca.issue({ node: 'node-a', from: '20200101000000Z', until: '20210101000000Z' }),
    /certificate has expired/,
  ],
  [
    'a certificate of no node',
    () => ca.issue({ san: 'URI:spiffe://virtflow/controller' }),
    /not that of a node worker/,
  ],
  [
    'two names in its certificate',
    () => ca.issue({ san: 'URI:spiffe://virtflow/node/node-a,URI:spiffe://virtflow/node/node-b' }),
    /not that of a node worker/,
  ],
])('a source with %s is refused, told why, and logged once', async (_, credentials, message) => {
  const source = await listening('node-a', credentialsOf(trusting(credentials())));
  const target = await listening('node-b', credentialsOf(issued['node-b']));
  await target.proxy.admit(targetSession());
  for (let time = 0; time < 3; time++) {
    await expect(source.proxy.link(sourceSession(target)).resume()).rejects.toMatchObject({
      type: 'PeerUnreachable',
      message: expect.stringMatching(message),
    });
  }
  expect(target.proxy.stats().refused.get('certificate')).toBe(3);
  expect(target.logged.filter(({ kind }) => kind === 'certificate')).toHaveLength(1);
});

test('without a certificate nobody is let in or spoken to, and both say so', async () => {
  const target = await listening('node-b', credentialsOf(issued['node-b']));
  const source = await nodeWith('node-a', noCredentials);
  expect(() => source.proxy.endpoint()).toThrow(/no certificate yet/);
  expect(source.proxy.trouble()).toMatch(/no certificate yet/);
  await expect(source.proxy.link(sourceSession(target)).resume()).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(/no certificate yet/),
  });
});

test('nobody at the other end is said', async () => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const session = { ...sourceSession(source), target: { node: 'node-b', address: '127.0.0.1', port: 1 } };
  await expect(source.proxy.link(session).inspect()).rejects.toMatchObject({
    type: 'PeerUnreachable',
    message: expect.stringMatching(/node node-b at 127\.0\.0\.1:1: nobody listens there/),
  });
});

const raw = async (target: Node, bytes: string | Buffer): Promise<void> => {
  const socket = keep(connect(target.proxy.endpoint().port, '127.0.0.1')).resume();
  socket.write(bytes);
  await until('the refusal', () => isOver(socket));
  socket.destroy();
};

test('plain TCP and garbage are refused, counted, and logged once per peer and reason', async () => {
  const { source, target } = await ready();
  await raw(target, 'GET / HTTP/1.1\r\n\r\n');
  await raw(target, randomBytes(4096));
  await raw(target, 'GET / HTTP/1.1\r\n\r\n');
  await until('the count', () => target.proxy.stats().refused.get('tls') === 3);
  const reasons = target.logged.filter(({ kind }) => kind === 'tls').map(({ reason }) => reason);
  expect(new Set(reasons).size).toBe(reasons.length);
  expect(reasons.length).toBeLessThan(3);
  await serveTarget(target, 'libvirt', echo);
  const socket = connectSource(source, 'libvirt');
  socket.end('still at work');
  expect(await text(socket)).toBe('still at work');
});

test('whoever connects and says nothing is shown out in time', async () => {
  const { target } = await ready();
  const silent = keep(connect(target.proxy.endpoint().port, '127.0.0.1')).resume();
  const { port } = target.proxy.endpoint();
  const secured = keep(
    tlsConnect({ port, host: '127.0.0.1', ...issued['node-a'], checkServerIdentity: () => undefined }),
  ).resume();
  await until('the silent ones to be shown out', () => silent.destroyed && secured.destroyed, { timeoutMs: 10_000 });
  expect(target.proxy.stats().refused.get('tls')).toBe(1);
  expect(target.proxy.stats().refused.get('header')).toBe(1);
});

test.each([
  ['an unknown channel', encodeFrame({ migrationUid, channel: 'console' })],
  ['a header without end', encodeFrame({ migrationUid, channel: 'memory', more: 'x'.repeat(2_000) })],
  ['no header at all', Buffer.from('{"migrationUid"')],
])('a node’s worker with %s is refused', async (_, bytes) => {
  const { target } = await ready();
  const { port } = target.proxy.endpoint();
  const socket = keep(
    tlsConnect({ port, host: '127.0.0.1', ...issued['node-a'], checkServerIdentity: () => undefined }),
  );
  socket.write(bytes);
  expect(await readFrame(socket, { maxBytes: 1024, timeoutMs: 8_000 })).toMatchObject({ accepted: false });
  expect(target.proxy.stats().refused.get('header')).toBe(1);
});

test('TLS 1.2 is not spoken', async () => {
  const { target } = await ready();
  const { port } = target.proxy.endpoint();
  const socket = keep(
    tlsConnect({
      port,
      host: '127.0.0.1',
      ...issued['node-a'],
      maxVersion: 'TLSv1.2',
      checkServerIdentity: () => undefined,
    }),
  );
  await until('the end', () => socket.destroyed);
  expect(target.proxy.stats().refused.get('tls')).toBe(1);
});

test('one migration cannot take all connections', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'memory', echo);
  const { port } = target.proxy.endpoint();
  const open = (): Socket => {
    const socket = keep(
      tlsConnect({ port, host: '127.0.0.1', ...issued['node-a'], checkServerIdentity: () => undefined }),
    );
    socket.write(encodeFrame({ migrationUid, channel: 'memory' }));
    return socket.resume();
  };
  const many = Array.from({ length: 80 }, open);
  await until('the limit', () => (target.proxy.stats().refused.get('limit') ?? 0) > 0);
  expect(target.proxy.stats().channels.memory).toBeLessThanOrEqual(64);
  for (const socket of many) socket.destroy();
  await until('all to be closed', () => target.proxy.stats().channels.memory === 0);
  const socket = connectSource(source, 'memory');
  socket.end('room again');
  expect(await text(socket)).toBe('room again');
});

test('certificates change without a restart, and connections that stand stay', async () => {
  const own = credentialsOf(issued['node-b']);
  const target = await listening('node-b', own);
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  await target.proxy.admit(targetSession());
  await source.proxy.open(sourceSession(target));
  await serveTarget(target, 'libvirt', echo);
  const standing = connectSource(source, 'libvirt');
  standing.write('before ');
  await until('the connection', () => target.proxy.stats().channels.libvirt === 1);

  own.change(otherCa.issue({ node: 'node-b' }));
  await expect(source.proxy.link(sourceSession(target)).inspect()).rejects.toMatchObject({
    message: expect.stringMatching(/another CA/),
  });
  standing.end('after');
  expect(await text(standing)).toBe('before after');
});

test('a worker that starts again takes its sessions up', async () => {
  const { source, target } = await ready();
  const port = target.proxy.endpoint().port;
  await source.stop();
  await target.stop();
  const [sourceAgain, targetAgain] = [
    await listening('node-a', credentialsOf(issued['node-a'])),
    await listening('node-b', credentialsOf(issued['node-b'])),
  ];
  expect(sourceAgain.proxy.stats().sessions).toEqual({ source: 1, target: 0 });
  expect(targetAgain.proxy.stats().sessions).toEqual({ source: 0, target: 1 });
  // In the cluster the port is always the same; here the source must be told.
  expect(targetAgain.proxy.endpoint().port).not.toBe(port);
  await sourceAgain.proxy.open(sourceSession(targetAgain));
  await serveTarget(targetAgain, 'libvirt', echo);
  const socket = connectSource(sourceAgain, 'libvirt');
  socket.end('again');
  expect(await text(socket)).toBe('again');
});

test('the sweep ends only sessions of Pods that are gone', async () => {
  const { target } = await ready();
  expect(await target.proxy.sweep(() => Promise.resolve(false))).toEqual([]);
  expect(target.proxy.stats().sessions.target).toBe(1);
  expect(await target.proxy.sweep((uid) => Promise.resolve(uid === targetPod.uid))).toEqual([migrationUid]);
  expect(target.proxy.stats().sessions.target).toBe(0);
  expect(await readdir(join(base, 'node-b-migrations'))).toEqual([]);
});

test('hand-over: the target’s launcher resumes, over a connection that is there already', async () => {
  const { source, target } = await ready();
  const launcher = await startLauncher(target.pods, targetPod.uid);
  const view = {
    migrationUid,
    role: 'target',
    domain: 'incoming',
    job: false,
    postCopy: false,
    resumed: false,
    finalized: false,
  };
  launcher.answer('GetMigration', { json: JSON.stringify(view) });
  launcher.answer('ResumeMigrated', { json: JSON.stringify({ ...view, domain: 'active', resumed: true }) });
  const link = source.proxy.link(sourceSession(target));
  try {
    expect(await link.inspect()).toEqual(view);
    expect(await link.resume()).toMatchObject({ resumed: true, domain: 'active' });
    expect(await link.resume()).toMatchObject({ resumed: true });
    expect(launcher.received.map(({ method }) => method)).toEqual([
      'Handshake',
      'GetMigration',
      'ResumeMigrated',
      'ResumeMigrated',
    ]);
    // A launcher that dies and comes back.
    launcher.stop();
    await expect(link.resume()).rejects.toMatchObject({ type: 'LauncherUnreachable' });
    const next = await startLauncher(target.pods, targetPod.uid, 2);
    next.answer('ResumeMigrated', { json: JSON.stringify({ ...view, domain: 'active', resumed: true }) });
    expect(await link.resume()).toMatchObject({ resumed: true });
    next.stop();
    // Abandoned: from here on nobody is resumed.
    await target.proxy.close(migrationUid);
    await expect(link.resume()).rejects.toMatchObject({ type: 'PeerUnreachable' });
    expect(next.received.filter(({ method }) => method === 'ResumeMigrated')).toHaveLength(1);
  } finally {
    link.close();
  }
});

/** A target in a process of its own. */
const childTarget = async (): Promise<{ child: ChildProcess; session: SourceSession; pods: string }> => {
  const pods = join(base, 'child');
  await mkdir(join(pods, targetPod.uid, SOCKETS), { recursive: true });
  const input: ProxyProcessInput = {
    node: 'node-b',
    pods,
    directory: join(base, 'child-migrations'),
    credentials: issued['node-b'],
    session: targetSession(),
  };
  const file = join(base, 'child.json');
  await writeFile(file, JSON.stringify(input));
  const child = spawn(process.execPath, ['--no-warnings', PROXY_PROCESS, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  children.push(child);
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const target = { node: 'node-b', address: '127.0.0.1', port: Number(port) };
  return { child, pods, session: { role: 'source', migrationUid, vmi, pod: sourcePod, target } };
};

test('a frozen peer is noticed in time, and spoken to again when it goes on', async () => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const { child, pods, session } = await childTarget();
  const launcher = await startLauncher(pods, targetPod.uid);
  const view = {
    migrationUid,
    role: 'target',
    domain: 'active',
    job: false,
    postCopy: false,
    resumed: true,
    finalized: false,
  };
  launcher.answer('GetMigration', { json: JSON.stringify(view) });
  launcher.answer('ResumeMigrated', { json: JSON.stringify(view) });
  const standing = source.proxy.link(session);
  const later = source.proxy.link(session);
  try {
    await standing.inspect();
    child.kill('SIGSTOP');
    const begun = Date.now();
    const refusals = await Promise.all([standing, later].map((link) => link.resume().catch((error: unknown) => error)));
    expect(refusals).toEqual([
      expect.objectContaining({ type: 'PeerUnreachable' }),
      expect.objectContaining({ type: 'PeerUnreachable' }),
    ]);
    expect(Date.now() - begun).toBeLessThan(15_000);
    child.kill('SIGCONT');
    expect(await standing.resume()).toMatchObject({ resumed: true });
  } finally {
    standing.close();
    later.close();
    launcher.stop();
  }
});

test('a peer that is killed in the middle: what arrived is the beginning of what was sent, and the sender learns of it', async () => {
  const source = await listening('node-a', credentialsOf(issued['node-a']));
  const { child, pods, session } = await childTarget();
  const received: Buffer[] = [];
  let bytes = 0;
  await serveTarget({ pods } as Node, 'memory', (socket) => {
    socket.on('data', (data: Buffer) => {
      received.push(data);
      bytes += data.length;
    });
  });
  await source.proxy.open(session);
  const sent = randomBytes(64 * 1024 * 1024);
  const socket = connectSource(source, 'memory').resume();
  socket.write(sent);
  await until('half of it', () => bytes > 8 * 1024 * 1024, { everyMs: 1 });
  child.kill('SIGKILL');
  await until('the break', () => isOver(socket));
  const all = Buffer.concat(received);
  expect(all.equals(sent.subarray(0, all.length))).toBe(true);
});

test('channels that are interrupted break at once, and others can be opened', async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'memory', echo);
  const socket = connectSource(source, 'memory');
  socket.write('there');
  await once(socket, 'data');
  source.proxy.interrupt(migrationUid, 'nobody answers');
  await until('the end', () => isOver(socket));
  expect(source.proxy.troubles(migrationUid)).toEqual(['nobody answers']);
  const again = connectSource(source, 'memory');
  again.end('again');
  expect(await text(again)).toBe('again');
});

test("libvirt hears last of an interruption: QEMU's channels are broken by then", async () => {
  const { source, target } = await ready();
  await serveTarget(target, 'memory', echo);
  await serveTarget(target, 'libvirt', echo);
  const [memory, control] = [connectSource(source, 'memory'), connectSource(source, 'libvirt')];
  memory.write('there');
  control.write('there');
  await Promise.all([once(memory, 'data'), once(control, 'data')]);
  source.proxy.interrupt(migrationUid, 'nobody answers');
  await until('the end of the memory', () => isOver(memory));
  expect(isOver(control)).toBe(false);
  await until('the end of the control channel', () => isOver(control));
});
