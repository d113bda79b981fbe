import { afterEach, expect, jest, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { containerDiskImage } from '../../../api/launcher/paths.ts';
import type { LauncherPod } from '../../support/launcher-pod.ts';
import { testGuestDisk } from '../../support/test-guest.ts';
import { agentConnected, disposeAll, qemu, syncRequest } from './support.ts';
import { prepareMigration } from './migration-support.ts';

jest.setTimeout(180_000);
afterEach(disposeAll);

const SEED = Buffer.from('#!/bin/sh\necho seeded > /dev/console\n').toString('base64');
const volumes = [
  { name: 'root', containerDisk: { image: 'guest' } },
  { name: 'scratch', emptyDisk: { capacity: '16Mi' } },
  { name: 'seed', cloudInitNoCloud: { userDataBase64: SEED } },
];
const images = (pod: LauncherPod): void =>
  copyFileSync(testGuestDisk(), join(pod.volume('containerDisks'), basename(containerDiskImage('root'))));

test('a guest with disks of its own moves: stopped in the target until the source is proven gone, then it runs there', async () => {
  const { uid, source, target, request, view } = await prepareMigration({ volumes }, images);
  expect(await view('source')).toMatchObject({
    role: 'none',
    domain: 'active',
    copiedDisks: [{ volume: 'root' }, { volume: 'scratch', size: 16 * 1024 * 1024 }, { volume: 'seed' }],
  });
  expect(await view('target')).toMatchObject({ role: 'target', domain: 'none', resumed: false });
  expect(await target.client.refusal('SyncVMI', syncRequest(target.pod, { epoch: 2 }))).toMatchObject({
    code: status.FAILED_PRECONDITION,
  });
  const reports = target.client.watch();

  const { ended } = source.client.migrate(request());
  expect(await ended).toMatchObject({ kind: 'sourceGone' });
  expect(qemu(source.pod)).toEqual([]);
  expect(await target.client.json('ResumeMigrated', { migrationUid: uid })).toMatchObject({
    domain: 'active',
    resumed: true,
  });
  expect(reports.reports.map(({ state }) => state)).toContain('incoming');
  expect(await target.client.json('FinalizeMigration', { migrationUid: uid, tokenEpoch: 2 })).toMatchObject({
    finalized: true,
  });
  await agentConnected(reports.reports);
  expect(await target.client.report('GetDomain')).toMatchObject({ state: 'running', tokenEpoch: 2, migrationUid: uid });

  expect(await source.client.report('GetDomain')).toMatchObject({ end: 'migrated', migrationUid: uid });
  expect(await view('source')).toMatchObject({
    outcome: { kind: 'sourceGone', numbers: { downtimeMs: expect.any(Number) } },
  });
  expect(await source.client.migrate(request()).ended).toMatchObject({ kind: 'sourceGone' });
  source.pod.terminate();
  expect(await source.pod.exited).toBe(0);

  await target.client.report('ShutdownVMI', { deadlineMs: Date.now() + 60_000 });
  expect(await target.pod.exited).toBe(0);
  expect(target.pod.lastReport).toMatchObject({ end: 'agentShutdown' });
});

test('a guest that a user has paused moves as it is, and runs on when the user wants', async () => {
  const { uid, source, target, request } = await prepareMigration();
  await source.client.report('PauseVMI');
  expect(await source.client.migrate(request()).ended).toMatchObject({ kind: 'sourceGone' });
  expect(await target.client.refusal('UnpauseVMI')).toMatchObject({ details: `migration ${uid} is under way` });
  expect(await target.client.json('ResumeMigrated', { migrationUid: uid })).toMatchObject({ resumed: true });
  expect(await target.client.report('GetDomain')).toMatchObject({ state: 'paused', pausedBy: 'user' });
  await target.client.json('FinalizeMigration', { migrationUid: uid, tokenEpoch: 2 });
  expect(await target.client.report('UnpauseVMI')).toMatchObject({ state: 'running' });
});

test('a guest with EFI firmware and a TPM takes them along', async () => {
  const firmware = { uuid: '4dd2a1f0-86b8-4a3e-9a0e-6c2a3f4b5d6f', bootloader: { efi: { secureBoot: false } } };
  const { uid, source, target, request } = await prepareMigration({ firmware, devices: { tpm: {} } });
  const { reports } = target.client.watch();
  expect(await source.client.migrate(request()).ended).toMatchObject({ kind: 'sourceGone' });
  expect(source.pod.processes('/usr/bin/swtpm')).toEqual([]);
  expect(await target.client.json('ResumeMigrated', { migrationUid: uid })).toMatchObject({ resumed: true });
  await target.client.json('FinalizeMigration', { migrationUid: uid, tokenEpoch: 2 });
  await agentConnected(reports);
  expect(target.pod.processes('/usr/bin/swtpm')).toHaveLength(1);
});

test('what does not fit a migration is refused, and changes nothing', async () => {
  const { uid, source, target, request, view } = await prepareMigration();
  const another = '4d2c1a60-0000-4000-8000-000000000000';
  const refusals = [
    target.client.refusal('ResumeMigrated', { json: JSON.stringify({ migrationUid: uid }) }),
    target.client.refusal('FinalizeMigration', { json: JSON.stringify({ migrationUid: uid, tokenEpoch: 2 }) }),
    target.client.refusal('ResumeMigrated', { json: JSON.stringify({ migrationUid: another }) }),
    source.client.refusal('AbandonMigrationTarget', { json: JSON.stringify({ migrationUid: another }) }),
    source.client.refusal('GetMigration', { json: '{}' }),
  ];
  expect((await Promise.all(refusals)).map((refusal) => refusal?.code)).toEqual([
    status.ABORTED, // nothing has come in yet
    status.FAILED_PRECONDITION,
    status.FAILED_PRECONDITION,
    status.FAILED_PRECONDITION,
    status.INVALID_ARGUMENT,
  ]);
  await expect(target.client.migrate(request()).ended).rejects.toThrow(/no guest runs here/);
  expect(await view('source')).toMatchObject({ role: 'none', domain: 'active' });
  expect(await view('target')).toMatchObject({ role: 'target', domain: 'none' });
});
