import { expect, test } from '@jest/globals';
import type { KubePort } from '../../../../activities/kube/port.ts';
import { isOver, migrationsOf, newMigration, sinceCreationOf, toldBy } from '../../../../cli/migration/objects.ts';
import { NAME, at, migration, running } from './samples.ts';

test('a migration is asked for as virtctl does it', () => {
  expect(newMigration(NAME, { nodeSelector: { zone: 'east' }, retryOf: 'first' })).toEqual({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: {
      namespace: 'prod',
      generateName: 'kubevirt-migrate-vm-',
      labels: { 'kubevirt.io/vmi-name': 'web' },
      annotations: { 'virtflow.io/retry-of': 'first' },
    },
    spec: { vmiName: 'web', addedNodeSelector: { zone: 'east' } },
  });
  expect(newMigration(NAME).spec).toEqual({ vmiName: 'web' });
});

test('a name that is too long for a label is left to the controller', () => {
  const long = newMigration({ namespace: 'prod', name: 'x'.repeat(64) });
  expect(long.metadata?.labels).toBeUndefined();
});

test('what the object says of its trouble has a type, if it is one that is known', () => {
  const conditions = [
    { type: 'Waiting', status: 'True', reason: 'QuotaExceeded', message: 'no room' },
    { type: 'Failure', status: 'True', reason: 'Sunspots', message: 'who knows' },
  ];
  const told = migration('Scheduling', { status: { conditions } });
  expect(toldBy(told, 'Waiting')).toEqual({ type: 'QuotaExceeded', message: 'no room' });
  expect(toldBy(told, 'Failure')).toEqual({ type: 'Unknown', message: 'who knows' });
  expect(toldBy(told, 'MigrationOutcomeUnknown')).toBeUndefined();
});

test('migrations are found by what they say, with or without the label, oldest first', async () => {
  const other = { ...migration('Running'), spec: { vmiName: 'db' } };
  const all = [migration('Running', { name: 'new', createdAt: at(9) }), other, migration('Failed', { name: 'old' })];
  const kube: Pick<KubePort, 'list'> = { list: () => Promise.resolve(all as never) };
  expect((await migrationsOf(kube, NAME)).map(({ metadata }) => metadata?.name)).toEqual(['old', 'new']);
});

test('migrations of an earlier instance of the same name do not count', () => {
  const before = migration('Failed', { name: 'before', createdAt: at(-601) });
  const since = migration('Failed', { name: 'since', createdAt: at(-600) });
  expect(sinceCreationOf([before, since], running())).toEqual([since]);
});

test.each([
  ['', false],
  ['Pending', false],
  ['Running', false],
  ['Succeeded', true],
  ['Failed', true],
])('phase "%s" is over: %s', (phase, over) => {
  expect(isOver(migration(phase))).toBe(over);
});
