import { describe, expect, test } from '@jest/globals';
import type { MigrationPolicy } from '../../../../api/migration-policy/index.ts';
import { matchingPolicy, withPolicy } from '../../../../api/migration-policy/index.ts';
import { parseMigrationPolicy } from '../../../../api/schemas/index.ts';
import { configured } from '../../../support/instances.ts';

type Labels = Record<string, string>;

const policy = (name: string, vmi?: Labels, namespace?: Labels): MigrationPolicy => ({
  metadata: { name },
  spec: {
    selectors: {
      ...(vmi === undefined ? {} : { virtualMachineInstanceSelector: vmi }),
      ...(namespace === undefined ? {} : { namespaceSelector: namespace }),
    },
  },
});
const instanceLabels = { app: 'shop', tier: 'front' };
const namespaceLabels = { team: 'a', zone: 'z' };
const matched = (...policies: MigrationPolicy[]) =>
  matchingPolicy(policies, { instanceLabels, namespaceLabels })?.metadata?.name;

describe('which policy is for a VMI', () => {
  test.each<[string, MigrationPolicy, boolean]>([
    ["by the VMI's label", policy('p', { app: 'shop' }), true],
    ['another value', policy('p', { app: 'bank' }), false],
    ["by the namespace's label", policy('p', undefined, { team: 'a' }), true],
    ['both', policy('p', { app: 'shop' }, { team: 'a' }), true],
    ['only one of both', policy('p', { app: 'shop' }, { team: 'b' }), false],
    ['one label that is missing', policy('p', { app: 'shop', size: 'big' }), false],
    ["a label of the namespace is none of the VMI's", policy('p', { team: 'a' }), false],
    ['empty selectors: everyone', policy('p'), true],
    ['no selectors: nobody', { metadata: { name: 'p' }, spec: {} }, false],
  ])('%s', (_, only, expected) => {
    expect(matched(only)).toBe(expected ? 'p' : undefined);
  });

  test('a VMI without labels has none that match', () => {
    const subject = { instanceLabels: {}, namespaceLabels };
    expect(matchingPolicy([policy('p', { app: 'shop' })], subject)).toBeUndefined();
  });

  test.each<[string, MigrationPolicy[], string]>([
    ['most labels', [policy('a', { app: 'shop' }), policy('b', { app: 'shop' }, { team: 'a' })], 'b'],
    ["of as many, most of the VMI's", [policy('a', undefined, { team: 'a' }), policy('b', { app: 'shop' })], 'b'],
    ['else the first by name', [policy('b', { app: 'shop' }), policy('a', { tier: 'front' })], 'a'],
    ['one that does not match counts for nothing', [policy('a', { app: 'bank', tier: 'front' }), policy('b')], 'b'],
  ])('of several: %s', (_, policies, expected) => {
    expect(matched(...policies)).toBe(expected);
    expect(matched(...[...policies].reverse())).toBe(expected);
  });
});

describe('settings in force', () => {
  const { migrations } = configured({ migrations: { progressTimeout: 33, bandwidthPerMigration: '1Gi' } });

  test('without a policy those of the cluster', () => {
    expect(withPolicy(migrations, undefined)).toEqual(migrations);
  });

  test('a policy has its own, false and 0 included; the rest is the cluster’s', () => {
    const own = { bandwidthPerMigration: '0', completionTimeoutPerGiB: 0, allowPostCopy: false, maxDowntimeMs: 100 };
    const allowed = configured({ migrations: { allowPostCopy: true, progressTimeout: 33 } }).migrations;
    expect(withPolicy(allowed, { spec: own })).toEqual({ ...allowed, ...own });
  });

  test('what a policy cannot set stays: limits, progress, TLS', () => {
    const spec = {
      parallelMigrationsPerCluster: 100,
      progressTimeout: 1,
      disableTLS: true,
      unsafeMigrationOverride: true,
    };
    expect(withPolicy(migrations, { spec } as MigrationPolicy)).toEqual(migrations);
  });
});

test('a policy of another shape is refused by the name of its field', () => {
  const read = (spec: object) => () => parseMigrationPolicy({ metadata: { name: 'p' }, spec });
  expect(read({ selectors: null, allowPostCopy: null })()).toEqual({ metadata: { name: 'p' }, spec: {} });
  expect(read({ completionTimeoutPerGiB: -1 })).toThrow('spec.completionTimeoutPerGiB');
  expect(read({ maxDowntimeMs: 2_000_001 })).toThrow('spec.maxDowntimeMs');
  expect(read({ selectors: { namespaceSelector: { team: 1 } } })).toThrow('spec.selectors.namespaceSelector.team');
});
