import { expect, test } from '@jest/globals';
import { readNewMigrationPolicy, validateMigrationPolicy } from '../../../../api/validation/index.ts';
import { short } from './told.ts';

const causes = (spec: object): string[] => {
  const read = readNewMigrationPolicy({ metadata: { name: 'p' }, spec });
  return short(read.object === undefined ? read.causes : validateMigrationPolicy(read.object));
};

test.each<[string, object, string[]]>([
  ['settings that can be', { bandwidthPerMigration: '0', completionTimeoutPerGiB: 0, maxDowntimeMs: 300 }, []],
  ['a negative bandwidth', { bandwidthPerMigration: '-1Mi' }, ['Invalid spec.bandwidthPerMigration']],
  [
    'several that cannot be read',
    { bandwidthPerMigration: 'fast', completionTimeoutPerGiB: -1, allowPostCopy: 'yes', maxDowntimeMs: 0 },
    [
      'Invalid spec.allowPostCopy',
      'Invalid spec.bandwidthPerMigration',
      'Invalid spec.completionTimeoutPerGiB',
      'Invalid spec.maxDowntimeMs',
    ],
  ],
])('%s', (_, spec, expected) => {
  expect(causes(spec).sort()).toEqual(expected);
});
