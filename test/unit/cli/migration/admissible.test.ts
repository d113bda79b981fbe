import { expect, test } from '@jest/globals';
import { whyNotMigrate } from '../../../../cli/migration/admissible.ts';
import { NAME, migration, running, vm } from './samples.ts';

const LIVE = { type: 'LiveMigratable', status: 'True' };
const vmi = running([LIVE]);

test('a running VM that is live-migratable and whose migrations are over can be migrated', () => {
  expect(whyNotMigrate({ name: NAME, vm, vmi }, [migration('Succeeded'), migration('Failed')])).toBeUndefined();
});

test('a VM of which it is not known (yet) whether it can be migrated is left to the controller', () => {
  expect(whyNotMigrate({ name: NAME, vm, vmi: running() }, [])).toBeUndefined();
});

const shuttingDown = { ...vmi, metadata: { ...vmi.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const disks = { type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: 'PVC data is RWO' };
const ioError = { type: 'Paused', status: 'True', reason: 'PausedIOError', message: 'disk vda: no space' };

test.each([
  ['stopped', undefined, [], /prod\/web has no instance \(Running\).*virtflow start web -n prod/],
  ['shutting down', shuttingDown, [], /prod\/web is being shut down/],
  ['starting', running([], { phase: 'Scheduled' }), [], /prod\/web is Scheduled: only a running VM/],
  ['ended', running([], { phase: 'Failed' }), [], /prod\/web is Failed/],
  [
    'migrating',
    vmi,
    [migration('Running')],
    /by VirtualMachineInstanceMigration prod\/kubevirt-migrate-vm-abc \(Running\)/,
  ],
  ['paused by an error', running([LIVE, ioError]), [], /paused by an I\/O error \(disk vda: no space\)/],
  ['not migratable', running([disks]), [], /cannot be live-migrated: DisksNotLiveMigratable: PVC data is RWO/],
])('a VM that is %s is refused in a sentence that names the object', (_, instance, migrations, sentence) => {
  expect(whyNotMigrate({ name: NAME, vm, ...(instance && { vmi: instance }) }, migrations)).toMatch(sentence);
});
