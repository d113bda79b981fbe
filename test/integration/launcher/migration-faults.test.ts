import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { MigrationEvent } from '../../../api/launcher/migration.ts';
import { LauncherClient } from '../../support/launcher-client.ts';
import { until } from '../../support/until.ts';
import { prepareMigration, prepareTarget } from './migration-support.ts';
import type { Side } from './migration-support.ts';
import { disposeAll, qemu, syncRequest, track } from './support.ts';

jest.setTimeout(240_000);
afterEach(disposeAll);
/** Post-copy needs it in a process without capabilities. */
beforeAll(() => writeFileSync('/proc/sys/vm/unprivileged_userfaultfd', '1'));

const MIB = 1024 * 1024;
/** Slow enough for something to happen meanwhile: about 90 MiB are to be copied. */
const slow = { bandwidth: 10 * MIB };

const underWay = (events: MigrationEvent[]): Promise<unknown> =>
  until('progress', () => events.some((event) => event.type === 'progress' && event.progress.processedBytes > 0));
const guestAnswers = async ({ client }: Side): Promise<void> => {
  await until('the agent', () =>
    client.call('GuestPing').then(
      () => true,
      () => false,
    ),
  );
};

test('the answer to the last message is lost: the source runs on, what came in is given up, and the next migration works', async () => {
  const { uid, source, target, proxy, request, view } = await prepareMigration();
  proxy.finish = 'lostReply';
  const outcome = await source.client.migrate(request()).ended;
  expect(outcome).toMatchObject({ kind: 'sourceActive', cause: 'failed' });
  expect(await source.client.report('GetDomain')).toMatchObject({ state: 'running' });
  expect(await view('target')).toMatchObject({ domain: 'incoming', job: false, resumed: false });
  await guestAnswers(source);

  proxy.finish = 'none';
  expect(await source.client.migrate(request()).ended).toEqual(outcome);
  expect(await target.client.json('AbandonMigrationTarget', { migrationUid: uid })).toMatchObject({ domain: 'none' });
  expect(await target.client.json('AbandonMigrationTarget', { migrationUid: uid })).toMatchObject({ domain: 'none' });
  expect(qemu(target.pod)).toEqual([]);
  expect(await target.client.refusal('ResumeMigrated', { json: JSON.stringify({ migrationUid: uid }) })).toBeDefined();
  expect(await target.client.refusal('SyncVMI', syncRequest(target.pod))).toBeDefined();
  await proxy.dispose();

  const next = await prepareTarget(source);
  next.proxy.finish = 'lostRequest';
  expect(await source.client.migrate(next.request()).ended).toMatchObject({ kind: 'sourceActive' });
  await until('nothing stays in the target', () => qemu(next.target.pod).length === 0);
  await guestAnswers(source);
  // QEMU took its disks back when it was told to.
  expect(source.pod.output).not.toContain('the guest is not resumed yet');
  await next.proxy.dispose();

  const last = await prepareTarget(source);
  expect(await source.client.migrate(last.request()).ended).toMatchObject({ kind: 'sourceGone' });
  await last.target.client.json('ResumeMigrated', { migrationUid: last.uid });
  await guestAnswers(last.target);
  expect(
    await last.target.client.refusal('AbandonMigrationTarget', { json: JSON.stringify({ migrationUid: last.uid }) }),
  ).toBeDefined();
});

test('cancelled: while it runs, again, and before it begins; then a shutdown ends a migration too', async () => {
  const { uid, source, target, request, view } = await prepareMigration();
  const { events, ended } = source.client.migrate(request(slow));
  await underWay(events);
  expect(await view('source')).toMatchObject({ role: 'source', job: true });
  expect(await source.client.refusal('PauseVMI')).toBeDefined();
  const never = randomUUID();
  expect(await source.client.migrate({ ...request(), migrationUid: never }).ended).toMatchObject({
    cause: 'never',
    message: `migration ${uid} is under way`,
  });
  const before = Date.now();
  await source.client.json('CancelMigration', { migrationUid: uid });
  expect(await ended).toMatchObject({ kind: 'sourceActive', cause: 'aborted' });
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(await source.client.json('CancelMigration', { migrationUid: uid })).toMatchObject({
    job: false,
    domain: 'active',
  });
  await until('nothing stays in the target', () => qemu(target.pod).length === 0);

  const barred = randomUUID();
  await source.client.json('CancelMigration', { migrationUid: barred });
  expect(await source.client.migrate({ ...request(), migrationUid: barred }).ended).toMatchObject({ cause: 'never' });
  await guestAnswers(source);

  const again = source.client.migrate({ ...request(slow), migrationUid: randomUUID() });
  await underWay(again.events);
  await source.client.report('ShutdownVMI', { deadlineMs: Date.now() + 60_000 });
  expect(await again.ended).toMatchObject({ kind: 'sourceActive', cause: 'aborted' });
  expect(await source.pod.exited).toBe(0);
  expect(source.pod.lastReport).toMatchObject({ end: 'agentShutdown' });
});

test('a killed launcher of the source comes back, attaches, and tells how it ended', async () => {
  const { uid, source, target, request } = await prepareMigration();
  const { events } = source.client.migrate(request(slow));
  await underWay(events);
  source.pod.kill('main.ts');
  await until('the launcher is back', () => source.pod.output.includes('"epoch":2'), { timeoutMs: 20_000 });
  const client = new LauncherClient(source.pod.commandSocket, source.pod.vmi.uid);
  track({ dispose: () => Promise.resolve(client.close()) });
  const again = client.migrate(request(slow));
  expect(await again.ended).toMatchObject({ kind: 'sourceGone' });
  await underWay(again.events);
  await target.client.json('ResumeMigrated', { migrationUid: uid });
  await guestAnswers(target);
  expect(await client.report('GetDomain')).toMatchObject({ end: 'migrated' });
});

test('the libvirtd of the target is killed: the source runs on; that of the source, at the very end: it runs on too', async () => {
  const { source, target, proxy, request, view } = await prepareMigration();
  const { events, ended } = source.client.migrate(request(slow));
  await underWay(events);
  target.pod.kill('/usr/sbin/libvirtd');
  expect(await ended).toMatchObject({ kind: 'sourceActive', cause: 'failed' });
  await until('nothing stays in the target', () => qemu(target.pod).length === 0);
  await guestAnswers(source);
  await proxy.dispose();

  const next = await prepareTarget(source);
  next.proxy.onFinish = () => {
    next.proxy.onFinish = () => undefined;
    source.pod.kill('/usr/sbin/libvirtd');
  };
  expect(await source.client.migrate(next.request()).ended).toMatchObject({ kind: 'sourceActive' });
  await until('it runs', async () => (await source.client.report('GetDomain')).state === 'running');
  await guestAnswers(source);
  expect(await next.view('target')).toMatchObject({ domain: 'incoming', resumed: false });
  await next.target.client.json('AbandonMigrationTarget', { migrationUid: next.uid });
  expect(await view('source')).toMatchObject({ domain: 'active' });
});

test('what does not end in time: it ends, or the guest is paused for it, or post-copy switches it over, as the options say', async () => {
  const { source, target, proxy, request } = await prepareMigration();
  const short = { bandwidth: 8 * MIB, completionTimeoutPerGiB: 2 };
  expect(await source.client.migrate(request(short)).ended).toMatchObject({ kind: 'sourceActive', cause: 'timeout' });
  await guestAnswers(source);
  await until('nothing stays in the target', () => qemu(target.pod).length === 0);
  await proxy.dispose();

  const paused = await prepareTarget(source);
  const pausing = { bandwidth: 8 * MIB, completionTimeoutPerGiB: 2, allowWorkloadDisruption: true };
  expect(await source.client.migrate(paused.request(pausing)).ended).toMatchObject({
    cause: 'timeout',
    numbers: { mode: 'Paused' },
  });
  await until('it runs again', async () => (await source.client.report('GetDomain')).state === 'running');
  await paused.proxy.dispose();

  const postCopy = await prepareTarget(source);
  const switching = source.client.migrate(postCopy.request({ ...short, allowPostCopy: true }));
  expect(await switching.ended).toMatchObject({ kind: 'sourceGone', numbers: { mode: 'PostCopy' } });
  expect(await postCopy.view('target')).toMatchObject({ domain: 'active', resumed: true });
  expect(await postCopy.target.client.json('ResumeMigrated', { migrationUid: postCopy.uid })).toMatchObject({
    resumed: true,
  });
  await guestAnswers(postCopy.target);
});

test('post-copy whose control link is cut: unknown, never resumed here, and moved once QEMU has brought it to its end', async () => {
  const { source, target, proxy, request, view } = await prepareMigration();
  proxy.memoryDelayMs = 8;
  const options = { completionTimeoutPerGiB: 1, allowPostCopy: true };
  const { ended } = source.client.migrate(request(options));
  await until('the guest runs in the target', async () => (await view('target')).postCopy);
  proxy.cut('libvirt');
  expect(await ended).toMatchObject({ kind: 'unknown' });
  expect(await source.client.report('GetDomain')).toMatchObject({ state: 'paused', pausedBy: 'migration' });
  expect(await source.client.migrate(request(options)).ended).toMatchObject({ kind: 'unknown' });
  await until('it has moved', async () => (await view('source')).outcome?.kind === 'sourceGone', { timeoutMs: 60_000 });
  expect(await source.client.report('GetDomain')).toMatchObject({ end: 'migrated' });
  await guestAnswers(target);
});

test('the Pod of the target is deleted: at once while the guest comes in; the source runs on', async () => {
  const { source, target, request } = await prepareMigration();
  const { events, ended } = source.client.migrate(request(slow));
  await underWay(events);
  target.pod.terminate();
  expect(await target.pod.exited).toBe(0);
  expect(await ended).toMatchObject({ kind: 'sourceActive', cause: 'failed' });
  await guestAnswers(source);
});

test('a frozen libvirtd of the source is replaced, and the migration ends; the guest runs on', async () => {
  const { source, request } = await prepareMigration();
  const { events, ended } = source.client.migrate(request(slow));
  await underWay(events);
  const [frozen] = source.pod.processes('/usr/sbin/libvirtd');
  process.kill(frozen ?? 0, 'SIGSTOP');
  expect(await ended).toMatchObject({ kind: 'sourceActive', cause: 'failed' });
  await guestAnswers(source);
});
