import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { LibvirtClient, MINIMUM_VERSION, ShutdownBy, StatsGroup } from '../../../../launcher/libvirt/client.ts';
import { isAgentUnresponsive, isNoDomain, isOperationInvalid } from '../../../../launcher/libvirt/errors.ts';
import type { DomainEvent } from '../../../../launcher/libvirt/events.ts';
import { LibvirtSession } from '../../../../launcher/libvirt/session.ts';
import { DomainState } from '../../../../launcher/libvirt/types.ts';
import type { DomainRef } from '../../../../launcher/libvirt/types.ts';
import { qemuPids, startPrivateLibvirtd } from '../../../support/libvirtd.ts';
import type { PrivateLibvirtd } from '../../../support/libvirtd.ts';
import { testDomainXml } from '../../../support/test-domain.ts';
import { copyTestGuest } from '../../../support/test-guest.ts';
import type { GuestFiles } from '../../../support/test-guest.ts';
import { until } from '../../../support/until.ts';

jest.setTimeout(120_000);

let libvirtd: PrivateLibvirtd;
let guest: GuestFiles;
let client: LibvirtClient;
const events: DomainEvent[] = [];
let domain: DomainRef | undefined;

const seen = (lifecycle: string, detail: string): boolean =>
  events.some((event) => event.kind === 'lifecycle' && event.lifecycle === lifecycle && event.detail === detail);
const agentConnected = (): boolean => events.some((event) => event.kind === 'agent' && event.connected);

beforeAll(async () => {
  libvirtd = await startPrivateLibvirtd();
  guest = copyTestGuest(join(libvirtd.paths.base, 'guest'));
  client = await LibvirtClient.connect({
    socketPath: libvirtd.socketPath,
    uri: 'qemu:///session',
    onEvent: (event) => events.push(event),
  });
});

afterEach(async () => {
  if (domain !== undefined) {
    await client.destroy(domain).catch(() => undefined);
    await client.undefine(domain).catch(() => undefined);
  }
  domain = undefined;
  events.length = 0;
});

afterAll(async () => {
  await client.close();
  await libvirtd.dispose();
});

const failure = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => undefined,
    (error: unknown) => error,
  );

const boot = async (name: string): Promise<DomainRef> => {
  domain = await client.define(testDomainXml(name, randomUUID(), guest));
  domain = await client.create(domain);
  return domain;
};

test('the version is at least the one that connecting demands', async () => {
  expect(await client.version()).toBeGreaterThanOrEqual(MINIMUM_VERSION);
});

test('libvirt refuses in typed errors and the connection goes on', async () => {
  expect(isNoDomain(await failure(client.lookup('nobody')))).toBe(true);
  await expect(client.define('<domain/>')).rejects.toThrow(/libvirt refused domainDefine/);
  domain = await client.define(testDomainXml('defined-only', randomUUID(), guest));
  expect(isOperationInvalid(await failure(client.destroy(domain)))).toBe(true);
  expect(await client.version()).toBeGreaterThan(0n);
});

test('a domain lives: define, create, info, XML, agent, suspend, resume, agent shutdown, undefine', async () => {
  const running = await boot('lives');
  expect(running.id).toBeGreaterThan(0);
  expect(await client.info(running)).toMatchObject({ state: DomainState.running, cpus: 1, maxMemoryKiB: 160n * 1024n });
  expect(await client.xml(running)).toContain('<name>lives</name>');
  expect(isAgentUnresponsive(await failure(client.agentCommand(running, 'guest-ping', undefined, 1)))).toBe(true);

  await client.suspend(running);
  expect((await client.state(running)).state).toBe(DomainState.paused);
  await client.resume(running);
  expect((await client.state(running)).state).toBe(DomainState.running);

  await until('the agent is connected', agentConnected, { timeoutMs: 60_000 });
  expect(await client.agentCommand(running, 'guest-ping')).toEqual({});
  expect(await client.agentCommand(running, 'guest-get-osinfo')).toMatchObject({ 'pretty-name': expect.any(String) });

  // A guest may be gone before its agent has answered.
  await client.shutdown(running, ShutdownBy.agent).catch((error: unknown) => {
    expect(String(error)).toMatch(/agent socket/);
  });
  await until('the domain has stopped', () => seen('stopped', 'shutdown'));
  await client.undefine(running);
  expect(isNoDomain(await failure(client.lookup('lives')))).toBe(true);
  const lifecycles = events.flatMap((event) => (event.kind === 'lifecycle' ? [event.lifecycle] : []));
  expect(lifecycles).toEqual(
    expect.arrayContaining(['defined', 'started', 'suspended', 'resumed', 'shutdown', 'stopped', 'undefined']),
  );
});

test('destroy ends QEMU at once; statistics cover all domains', async () => {
  const running = await boot('destroyed');
  const stats = await client.allDomainStats(StatsGroup.state);
  expect(stats.map((entry) => [entry.domain.name, entry.stats['state.state']])).toEqual([
    ['destroyed', DomainState.running],
  ]);
  expect(qemuPids(libvirtd.paths)).toHaveLength(1);
  await client.destroy(running);
  await until('the event', () => seen('stopped', 'destroyed'));
  expect(qemuPids(libvirtd.paths)).toHaveLength(0);
});

test('a domain can be created with stopped CPUs', async () => {
  domain = await client.define(testDomainXml('paused', randomUUID(), guest));
  domain = await client.create(domain, { paused: true });
  expect((await client.state(domain)).state).toBe(DomainState.paused);
});

test('a session connects again after libvirtd was killed, finds the running domain, and gets its events', async () => {
  await boot('survivor');
  const received: DomainEvent[] = [];
  const connections: LibvirtClient[] = [];
  const losses: Error[] = [];
  const session = LibvirtSession.open({
    socketPath: libvirtd.socketPath,
    uri: 'qemu:///session',
    onEvent: (event) => received.push(event),
    onConnected: (connected) => void connections.push(connected),
    onDisconnected: (reason) => losses.push(reason),
    retryDelayMs: 50,
  });
  await session.client(5_000);
  const [pid] = qemuPids(libvirtd.paths);

  await libvirtd.kill();
  await until('the loss is noticed', () => losses.length > 0);
  await expect(session.client(100)).rejects.toThrow(/no connection to libvirt within 100 ms/);
  await libvirtd.start();

  const again = await session.client(20_000);
  expect(connections).toHaveLength(2);
  expect(qemuPids(libvirtd.paths)).toEqual([pid]);
  const adopted = await again.lookup('survivor');
  expect((await again.state(adopted)).state).toBe(DomainState.running);
  // libvirt answers "not running" when it notices the end of QEMU before its own destroy has finished.
  await again.destroy(adopted).catch((error: unknown) => expect(isOperationInvalid(error)).toBe(true));
  // Nor does it send an event for an end that it meets while it attaches to the running QEMU; other events come.
  await until('the domain is off', async () => (await again.state(adopted)).state === DomainState.shutoff);
  await again.undefine(adopted);
  await until('an event on the new connection', () => received.some((event) => event.kind === 'lifecycle'));
  domain = undefined;

  await session.close();
  await client.closed;
  client = await LibvirtClient.connect({
    socketPath: libvirtd.socketPath,
    uri: 'qemu:///session',
    onEvent: (event) => events.push(event),
  });
});
