import { expect, test } from '@jest/globals';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../../api/kubevirt/types.ts';
import { validateMigration, validateMigrationUpdate } from '../../../../api/validation/index.ts';
import { SYSTEM, USER } from '../../../../api/validation/requester.ts';
import { configured, gated, instance } from '../../../support/instances.ts';
import { short } from './told.ts';

const migration = (spec: object, status: object = {}, labels: object = {}): VirtualMachineInstanceMigration =>
  structuredClone({ metadata: { name: 'move', namespace: 'shop', labels: { ...labels } }, spec: { ...spec }, status });
const running = (status: object = {}): VirtualMachineInstance => ({
  ...instance(),
  status: { phase: 'Running', ...status },
});
const fixed = (reason: string): VirtualMachineInstance =>
  running({ conditions: [{ type: 'LiveMigratable', status: 'False', reason, message: 'why' }] });
const sends = { sendTo: { connectURL: 'u', migrationID: 'a' } };

test.each<[string, object, VirtualMachineInstance | undefined, string[]]>([
  ['a VMI that runs', { vmiName: 'web' }, running(), []],
  ['a VMI that starts', { vmiName: 'web' }, running({ phase: 'Scheduling' }), []],
  ['none named', {}, undefined, ['Required spec.vmiName']],
  ['none there', { vmiName: 'lost' }, undefined, ['NotFound spec.vmiName']],
  ['one that is over', { vmiName: 'web' }, running({ phase: 'Failed' }), ['Invalid spec.vmiName']],
  ['one that cannot move', { vmiName: 'web' }, fixed('InterfaceNotLiveMigratable'), ['Invalid spec.vmiName']],
  ['disks that stay, to another cluster', { vmiName: 'web', ...sends }, fixed('DisksNotLiveMigratable'), []],
  [
    'two ends of two moves',
    { vmiName: 'web', ...sends, receive: { migrationID: 'b' } },
    running(),
    ['Invalid spec.receive.migrationID'],
  ],
])('%s', (_, spec, vmi, expected) => {
  expect(short(validateMigration(migration(spec), { vmi, migrations: [] }, configured()))).toEqual(expected);
});

test('moves to other clusters have a gate', () => {
  const closed = gated([], ['DecentralizedLiveMigration']);
  const given = migration({ vmiName: 'web', ...sends });
  expect(short(validateMigration(given, { vmi: running(), migrations: [] }, closed))).toEqual([
    'NotSupported spec.sendTo',
  ]);
});

test('only the controller ranks', () => {
  const given = migration({ vmiName: 'web', priority: 'system-critical' });
  const causes = (by: typeof USER): string[] =>
    short(validateMigration(given, { vmi: running(), migrations: [] }, configured(), by));
  expect(causes(USER)).toEqual(['Forbidden spec.migrationPriority']);
  expect(causes(SYSTEM)).toEqual([]);
});

test.each([
  ['web', 'Running', ['Invalid spec.vmiName']],
  ['web', undefined, ['Invalid spec.vmiName']],
  ['web', 'Succeeded', []],
  ['db', 'Running', []],
])('beside a migration of %s in phase %s', (vmiName, phase, expected) => {
  const other = migration({ vmiName }, phase === undefined ? {} : { phase }, { 'kubevirt.io/vmi-name': vmiName });
  const given = migration({ vmiName: 'web' });
  expect(short(validateMigration(given, { vmi: running(), migrations: [other] }, configured()))).toEqual(expected);
});

test('spec and label stand; the label until it is over', () => {
  const label = { 'kubevirt.io/vmi-name': 'web' };
  const old = migration({ vmiName: 'web' }, { phase: 'Running' }, label);
  const causes = (given: VirtualMachineInstanceMigration): string[] => short(validateMigrationUpdate(given, old));
  expect(causes(migration({ vmiName: 'web' }, { phase: 'Running' }, { ...label, more: 'x' }))).toEqual([]);
  expect(causes(migration({ vmiName: 'db' }, {}, label))).toEqual(['NotSupported spec']);
  expect(causes(migration({ vmiName: 'web' }, { phase: 'Running' }))).toEqual(['NotSupported metadata.labels']);
  expect(causes(migration({ vmiName: 'web' }, { phase: 'Failed' }))).toEqual([]);
});
