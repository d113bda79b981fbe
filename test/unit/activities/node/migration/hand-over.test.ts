import { expect, test } from '@jest/globals';
import type { FailureType } from '../../../../../api/contract/failures.ts';
import type { MigrationView } from '../../../../../api/launcher/migration.ts';
import { failure } from '../../../../../activities/failures.ts';
import { handOver } from '../../../../../activities/node/migration/hand-over.ts';
import type { PodProcess } from '../../../../../activities/node/pods/processes.ts';

const source = { name: 'source', uid: 'source-uid' };
const times = { patienceMs: 8_000, retryMs: 10 };
/** For what does not come. */
const short = { ...times, patienceMs: 200 };
const none = { processes: { qemuOf: () => [] as PodProcess[] } };

const view: MigrationView = {
  migrationUid: 'm',
  role: 'target',
  domain: 'active',
  job: false,
  postCopy: false,
  resumed: true,
  finalized: false,
};

/** A peer that fails so often first. */
const peer = (
  times: number,
  type: FailureType = 'PeerUnreachable',
): { resume: () => Promise<MigrationView>; asked: () => number } => {
  let asked = 0;
  return {
    asked: () => asked,
    resume: () => (++asked > times ? Promise.resolve(view) : Promise.reject(failure(type, 'away'))),
  };
};

test('the peer is told once QEMU is gone, not before', async () => {
  let looks = 0;
  const qemu: PodProcess = { pid: 7, startTime: 1, command: 'qemu-system-x86', cgroup: '' };
  const leaving = { qemuOf: () => (++looks < 3 ? [qemu] : []) };
  let told = 0;
  const resume = (): Promise<MigrationView> => {
    told = looks;
    return Promise.resolve(view);
  };
  expect(await handOver({ processes: leaving }, source, { resume }, times)).toEqual(view);
  expect(told).toBe(3);
});

test('a peer that is away for a moment is asked again', async () => {
  const away = peer(3);
  expect(await handOver(none, source, away, times)).toEqual(view);
  expect(away.asked()).toBe(4);
});

test('a peer that stays away is named in time', async () => {
  const begun = Date.now();
  await expect(handOver(none, source, peer(1_000), short)).rejects.toMatchObject({ type: 'PeerUnreachable' });
  expect(Date.now() - begun).toBeLessThan(5_000);
});

test('a refusal for good is not argued with', async () => {
  const refusing = peer(1_000, 'StaleToken');
  await expect(handOver(none, source, refusing, times)).rejects.toMatchObject({ type: 'StaleToken' });
  expect(refusing.asked()).toBe(1);
});

test('an answer without the guest is never success', async () => {
  const resume = (): Promise<MigrationView> => Promise.resolve({ ...view, domain: 'none', resumed: false });
  await expect(handOver(none, source, { resume }, short)).rejects.toMatchObject({
    type: 'MigrationOutcomeUnknown',
    message: expect.stringMatching(/domain none/),
  });
});
