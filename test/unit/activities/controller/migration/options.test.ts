import { expect, test } from '@jest/globals';
import { migrationOptions, priorityOf, timeoutsOf } from '../../../../../activities/controller/migration/options.ts';
import { configured, instance, withDomain } from '../../../../support/instances.ts';
import { options } from './reports.ts';

const optionsFor = (migrations: object, vmi = instance()) => migrationOptions(vmi, configured({ migrations }));

test("KubeVirt's defaults", () => {
  expect(optionsFor({})).toEqual({ ...options, parallelThreads: 8 });
});

test.each([
  [{ bandwidthPerMigration: '64Mi' }, { bandwidth: 64 * 2 ** 20 }],
  [{ bandwidthPerMigration: 1000 }, { bandwidth: 1000 }],
  [{ allowPostCopy: true }, { allowPostCopy: true, allowWorkloadDisruption: true }],
  [
    { allowPostCopy: true, allowWorkloadDisruption: false },
    { allowPostCopy: true, allowWorkloadDisruption: false },
  ],
  [{ allowWorkloadDisruption: true }, { allowPostCopy: false, allowWorkloadDisruption: true }],
  [
    { progressTimeout: 5, completionTimeoutPerGiB: 7 },
    { progressTimeout: 5, completionTimeoutPerGiB: 7 },
  ],
  [
    { allowAutoConverge: true, unsafeMigrationOverride: true },
    { allowAutoConverge: true, unsafe: true },
  ],
])('configuration %j gives %j', (migrations, expected) => {
  expect(optionsFor(migrations)).toMatchObject(expected);
});

test.each([['0'], ['0Mi'], [0], ['-1']])('a bandwidth of %j is no limit', (bandwidthPerMigration) => {
  expect(optionsFor({ bandwidthPerMigration })).not.toHaveProperty('bandwidth');
});

test.each([
  ['a CPU limit', {}, withDomain({ resources: { limits: { cpu: '2' } } })],
  ['dedicated CPUs', {}, withDomain({ cpu: { dedicatedCpuPlacement: true } })],
  ['post-copy', { allowPostCopy: true }, instance()],
])('one connection with %s', (_, migrations, vmi) => {
  expect(optionsFor(migrations, vmi)).not.toHaveProperty('parallelThreads');
});

test('a CPU limit of 0 is none', () => {
  expect(optionsFor({}, withDomain({ resources: { limits: { cpu: '0' } } }))).toHaveProperty('parallelThreads', 8);
});

test.each([
  [undefined, 0],
  ['', 0],
  ['system-critical', 100],
  ['user-triggered', 50],
  ['system-maintenance', 20],
])('priority %j is %d', (word, priority) => {
  expect(priorityOf(word)).toBe(priority);
});

test('an unknown priority is refused, with the words that there are', () => {
  expect(() => priorityOf('urgent')).toThrow(/spec\.priority "urgent" is unknown: use system-critical, user-triggered/);
});

const annotated = (annotations: Record<string, string>) => timeoutsOf({ metadata: { annotations }, spec: {} });

test('timeouts of the target Pod, and what its user makes of them', () => {
  expect(annotated({})).toEqual({ unschedulable: 300, pending: 900 });
  expect(annotated({ 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds': '10' })).toEqual({
    unschedulable: 10,
    pending: 900,
  });
  expect(annotated({ 'kubevirt.io/migrationPendingPodTimeoutSeconds': '20' })).toEqual({
    unschedulable: 300,
    pending: 20,
  });
});

test.each(['', '0', '-3', '1.5', '5m', '1000000'])('a timeout of "%s" is refused', (given) => {
  const annotation = 'kubevirt.io/migrationPendingPodTimeoutSeconds';
  expect(() => annotated({ [annotation]: given })).toThrow(`metadata.annotations[${annotation}] "${given}"`);
});
