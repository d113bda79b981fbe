import { expect, test } from '@jest/globals';
import { comparePolicy, type PolicyCase } from '../../../oracle/sets/migration-policy.ts';

const effective = {
  ...{ allowAutoConverge: false, allowPostCopy: false, allowWorkloadDisruption: false, unsafeMigrationOverride: false },
  ...{ bandwidthPerMigration: '64Mi', completionTimeoutPerGiB: 150, maxDowntimeMs: 900, progressTimeout: 150 },
  ...{ parallelMigrationsPerCluster: 5, parallelOutboundMigrationsPerNode: 2, utilityVolumesTimeout: 150 },
  nodeDrainTaintKey: 'kubevirt.io/drain',
};
const shop: PolicyCase = {
  vmiLabels: { app: 'shop' },
  namespaceLabels: null,
  policies: [
    {
      name: 'slow',
      spec: { bandwidthPerMigration: '64Mi', selectors: { virtualMachineInstanceSelector: { app: 'shop' } } },
    },
  ],
  matched: 'slow',
  effective,
};

test('the same policy with the same settings is equal', () => {
  expect(comparePolicy(shop)).toEqual({ kind: 'equal' });
});

test('another policy or another setting is different', () => {
  expect(comparePolicy({ ...shop, matched: null })).toMatchObject({ kind: 'different' });
  const other = { ...shop, effective: { ...effective, progressTimeout: 1 } };
  expect(comparePolicy(other)).toMatchObject({
    kind: 'different',
    differences: [{ path: 'effective/progressTimeout' }],
  });
});

test('a VMI without labels that KubeVirt lets match is a listed difference', () => {
  expect(comparePolicy({ ...shop, vmiLabels: null })).toEqual({
    kind: 'listed',
    rules: ['no-labels-match-no-selector'],
  });
});
