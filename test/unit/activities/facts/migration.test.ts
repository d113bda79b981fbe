import { expect, test } from '@jest/globals';
import { goneMigration, isReleased, migrationFacts } from '../../../../activities/facts/migration.ts';
import type { VirtualMachineInstanceMigration } from '../../../../api/kubevirt/types.ts';

const vmim = (spec: unknown, more: object = {}): VirtualMachineInstanceMigration =>
  ({
    metadata: { namespace: 'n', name: 'm', uid: 'm1', resourceVersion: '7' },
    spec,
    ...more,
  }) as VirtualMachineInstanceMigration;

test('a VMIM as its user writes it', () => {
  expect(
    migrationFacts(vmim({ vmiName: 'web', addedNodeSelector: { zone: 'a' }, priority: 'user-triggered' })),
  ).toEqual({
    migration: { namespace: 'n', name: 'm', uid: 'm1' },
    resourceVersion: '7',
    vmiName: 'web',
    phase: '',
    deleting: false,
    finalizers: [],
    priority: 'user-triggered',
    addedNodeSelector: { zone: 'a' },
  });
});

test('phase, finalizers, and that it is being deleted', () => {
  const metadata = { finalizers: ['f'], deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(migrationFacts(vmim({ vmiName: 'web' }, { metadata, status: { phase: 'Running' } }))).toMatchObject({
    ...{ phase: 'Running', deleting: true, finalizers: ['f'] },
  });
});

test.each<[string, unknown, RegExp]>([
  ['no VMI', {}, /spec\.vmiName is missing/],
  ['an empty name', { vmiName: '' }, /spec\.vmiName is missing/],
  ['a name that is none', { vmiName: 7 }, /n\/m cannot be read: spec\.vmiName: /],
  ['a selector that is none', { vmiName: 'web', addedNodeSelector: { zone: 1 } }, /spec\.addedNodeSelector\.zone: /],
  ['no spec', undefined, /spec: /],
  ['another cluster', { vmiName: 'web', sendTo: { migrationID: 'x' } }, /spec\.sendTo is not supported yet/],
  ['from another cluster', { vmiName: 'web', receive: { migrationID: 'x' } }, /spec\.receive is not supported yet/],
])('%s: invalid', (_, spec, why) => {
  const facts = migrationFacts(vmim(spec, { status: { phase: 'Pending' } }));
  expect(facts).toMatchObject({ phase: 'Pending', invalid: expect.stringMatching(why) });
});

test('a status that cannot be read leaves the phase open', () => {
  expect(migrationFacts(vmim({ vmiName: 'web' }, { status: { phase: 3 } }))).toMatchObject({
    phase: '',
    invalid: expect.stringMatching('status.phase'),
  });
});

test.each<[string, string[], boolean]>([
  ['', [], false],
  ['Running', [], false],
  ['Succeeded', ['kubevirt.io/migrationJobFinalize'], false],
  ['Succeeded', ['foreign'], true],
  ['Failed', [], true],
])('in phase "%s" with finalizers %j: released %j', (phase, finalizers, released) => {
  expect(isReleased({ phase, finalizers })).toBe(released);
});

test('one that is gone', () => {
  const migration = { namespace: 'n', name: 'm', uid: 'm1' };
  expect(goneMigration(migration)).toMatchObject({ migration, gone: true, deleting: true });
});
