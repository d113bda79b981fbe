import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createContext } from '../../../deploy/local/context.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { setMigrations } from '../support/migration-settings.ts';
import { untilTraceless } from '../support/migration-traces.ts';
import { createMigration, deleteMigrations, untilMigration, untilOver } from '../support/migrations.ts';
import { lastOperation } from '../support/history.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import { createClaim, createVm, deleteVm, getVmi, NAMESPACE, untilReady } from '../support/vms.ts';

jest.setTimeout(300_000);

/** Its guest changes its memory faster than it is sent. */
const VM = 'dirty';
/** As fast as this the copy never catches up with the guest. */
const BANDWIDTH = '4Mi';
/** Two files of random bytes, one copied over the other again and again: pages that change, and that cannot be packed. */
const DIRTY =
  'dd if=/dev/urandom of=/tmp/a bs=64k count=256 && (while :; do cp /tmp/a /tmp/b; done) >/dev/null 2>&1 </dev/null &';

let restore = (): Promise<void> => Promise.resolve();

const nodeOf = async (): Promise<string> => (await getVmi(VM))?.status?.nodeName ?? '';

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteMigrations();
  await deleteVm(VM);
  await createClaim(VM);
  await createVm(VM, { claim: VM, counter: true, network: true });
  await untilReady(VM);
  await runInGuest(createContext(), { namespace: NAMESPACE, name: VM }, DIRTY);
});

afterEach(() => restore());

afterAll(() => deleteVm(VM));

async function observed(act: () => Promise<void>): Promise<void> {
  const recorder = new Recorder(NAMESPACE, VM, { mayMigrate: true });
  try {
    await act();
  } finally {
    expect(await recorder.stop()).toEqual([]);
  }
  expect(recorder.boots).toBe(1);
  await untilTraceless(VM);
}

test('a migration that does not converge ends when its time is over, and its VM runs on', async () => {
  restore = await setMigrations({ bandwidthPerMigration: BANDWIDTH, completionTimeoutPerGiB: 15 });
  const from = await nodeOf();
  await observed(async () => {
    await createMigration('late', VM);
    const { status } = await untilOver('late');
    expect(status).toMatchObject({ phase: 'Failed', migrationState: { failed: true } });
    expect(status?.migrationState?.failureReason).toMatch(/15 s|time/);
  });
  expect(await nodeOf()).toBe(from);
});

test('auto-converge slows the guest down until it can be brought over', async () => {
  restore = await setMigrations({ bandwidthPerMigration: '8Mi', allowAutoConverge: true });
  await observed(async () => {
    await createMigration('slowed', VM);
    const { status } = await untilMigration('over', 'slowed', ({ status }) => status?.phase === 'Succeeded', 180_000);
    expect(status?.migrationState).toMatchObject({ mode: 'PreCopy', completed: true });
  });
  expect((await lastOperation(VM, 'migrate'))?.status?.migration?.numbers?.throttle).toBeGreaterThan(0);
});

test('a configuration that allows post-copy brings it over, and says so', async () => {
  restore = await setMigrations({
    ...{ bandwidthPerMigration: BANDWIDTH, completionTimeoutPerGiB: 10, allowPostCopy: true },
  });
  const from = await nodeOf();
  await observed(async () => {
    await createMigration('post-copied', VM);
    const { status } = await untilOver('post-copied', 180_000);
    expect(status?.migrationState?.failureReason).toBeUndefined();
    expect(status).toMatchObject({ phase: 'Succeeded', migrationState: { mode: 'PostCopy' } });
  });
  expect(await nodeOf()).not.toBe(from);
});
