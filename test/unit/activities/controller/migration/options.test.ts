import { expect, test } from '@jest/globals';
import { migrationOptions } from '../../../../../activities/controller/migration/options.ts';
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
