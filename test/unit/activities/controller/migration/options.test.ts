import { expect, test } from '@jest/globals';
import { migrationOptions } from '../../../../../activities/controller/migration/options.ts';
import { configured } from '../../../../support/instances.ts';
import { options } from './reports.ts';

const optionsFor = (migrations: object) => migrationOptions(configured({ migrations }));

test("KubeVirt's defaults, and QEMU's own for the downtime", () => {
  const { maxDowntimeMs: _, ...rest } = options;
  expect(optionsFor({})).toEqual(rest);
});

test.each([
  [{ bandwidthPerMigration: '64Mi' }, { bandwidth: 64 * 2 ** 20 }],
  [{ bandwidthPerMigration: 1000 }, { bandwidth: 1000 }],
  [{ allowPostCopy: true }, { allowPostCopy: true, allowWorkloadDisruption: true }],
  [
    { allowPostCopy: true, allowWorkloadDisruption: false },
    { allowPostCopy: true, allowWorkloadDisruption: false },
  ],
  [{ maxDowntimeMs: 900 }, { maxDowntimeMs: 900 }],
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

test('a policy has its own settings, and its name goes along', () => {
  const policy = { metadata: { name: 'fast' }, spec: { bandwidthPerMigration: '1Gi', allowPostCopy: true } };
  expect(migrationOptions(configured({ migrations: { allowAutoConverge: true } }), policy)).toMatchObject({
    ...{ policy: 'fast', bandwidth: 2 ** 30, allowPostCopy: true, allowWorkloadDisruption: true },
    allowAutoConverge: true,
  });
});
