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
    copiedDisks: [{ volume: 'root' }, { volume: 'scratch', size: 16 * 1024 * 1024 }],
  });
  expect(await view('target')).toMatchObject({ role: 'target', domain: 'none', resumed: false });
  expect(await target.client.refusal('SyncVMI', syncRequest(target.pod, { epoch: 2 }))).toMatchObject({
    code: status.FAILED_PRECONDITION,
  });
  const reports = target.client.watch();

  const { ended } = source.client.migrate(request());
  expect(await ended).toMatchObject({ kind: 'sourceGone' });
  const goneAt = Date.now();
  expect(qemu(source.pod)).toEqual([]);
  expect(await target.client.json('ResumeMigrated', { migrationUid: uid })).toMatchObject({
    domain: 'active',
    resumed: true,
  });
  console.log('resume took', Date.now() - goneAt);
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
  console.log(JSON.stringify(await view('source')));
  expect(await source.client.migrate(request()).ended).toMatchObject({ kind: 'sourceGone' });
  source.pod.terminate();
  expect(await source.pod.exited).toBe(0);

  await target.client.report('ShutdownVMI', { deadlineMs: Date.now() + 60_000 });
  expect(await target.pod.exited).toBe(0);
  expect(target.pod.lastReport).toMatchObject({ end: 'agentShutdown' });
});
