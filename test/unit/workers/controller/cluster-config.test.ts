import { expect, test } from '@jest/globals';
import type { KubeVirt } from '../../../../api/kubevirt/types.ts';
import { configKeeper, kubeVirtPatch, nextConfig, theKubeVirt } from '../../../../workers/controller/cluster-config.ts';

const now = new Date('2026-01-01T00:00:00Z');
const kubevirt = (configuration: object, status: KubeVirt['status'] = {}): KubeVirt => ({
  metadata: { namespace: 'virtflow', name: 'kubevirt', generation: 2 },
  spec: { configuration } as KubeVirt['spec'],
  status,
});
const emulated = { developerConfiguration: { useEmulation: true } };
const broken = { developerConfiguration: { useEmulation: 'perhaps' } };

test('a configuration that cannot be read changes nothing, and its field is named', () => {
  const good = nextConfig(kubevirt(emulated), undefined);
  expect(good).toMatchObject({ config: { useEmulation: true } });
  const after = nextConfig(kubevirt(broken), good);
  expect(after.config).toBe(good.config);
  expect(after.unreadable).toMatch(/useEmulation/);
  expect(nextConfig(kubevirt({}), after)).not.toHaveProperty('unreadable');
});

test('a worker that starts with a configuration it cannot read finds the last good one in the status', () => {
  const patch = kubeVirtPatch(kubevirt(emulated), nextConfig(kubevirt(emulated), undefined), now);
  const status = patch?.['status'] as KubeVirt['status'];
  expect(nextConfig(kubevirt(broken, status), undefined).config.useEmulation).toBe(true);
});

test('the defaults that hold before any object was seen are no last good configuration', () => {
  const keeper = configKeeper();
  expect(keeper.current().config.useEmulation).toBe(false);
  const status = { observedDeploymentConfig: JSON.stringify(emulated) };
  expect(keeper.update([kubevirt(broken, status)])).toMatchObject({ config: { useEmulation: true } });
  expect(keeper.update([kubevirt({})]).config.useEmulation).toBe(false);
  keeper.update([kubevirt(broken, status)]);
  expect(keeper.current().config.useEmulation).toBe(false);
  expect(keeper.current().unreadable).toMatch(/useEmulation/);
});

test('without a readable memory the defaults are in force', () => {
  const status = { observedDeploymentConfig: 'not json' };
  expect(nextConfig(kubevirt(broken, status), undefined).config.useEmulation).toBe(false);
  expect(nextConfig(undefined, undefined)).not.toHaveProperty('unreadable');
});

test('the status says Deployed and Available, and a second writing is for nothing', () => {
  const state = nextConfig(kubevirt({}), undefined);
  const status = kubeVirtPatch(kubevirt({}), state, now)?.['status'] as NonNullable<KubeVirt['status']>;
  expect(status).toMatchObject({ phase: 'Deployed', observedGeneration: 2 });
  const conditions = Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
  expect(conditions).toEqual({ Created: 'True', Available: 'True', Progressing: 'False', Degraded: 'False' });
  expect(kubeVirtPatch(kubevirt({}, status), state, new Date())).toBeUndefined();
});

test('the status tells the release whose API is served, as wanted and as reached', () => {
  const status = kubeVirtPatch(kubevirt({}), nextConfig(kubevirt({}), undefined), now)?.[
    'status'
  ] as KubeVirt['status'];
  expect(status?.observedKubeVirtVersion).toMatch(/^v1\.\d+\.\d+\+virtflow\.\d+\.\d+\.\d+$/);
  expect(status).toMatchObject({
    ...{ targetKubeVirtVersion: status?.observedKubeVirtVersion, operatorVersion: status?.observedKubeVirtVersion },
    defaultArchitecture: 'amd64',
  });
});

test('the status of one that cannot be read names the field and keeps the memory of the good one', () => {
  const state = nextConfig(kubevirt(broken), undefined);
  const status = kubeVirtPatch(kubevirt(broken), state, now)?.['status'] as NonNullable<KubeVirt['status']>;
  expect(status.conditions?.find(({ type }) => type === 'ConfigurationUnreadable')?.message).toMatch(/useEmulation/);
  expect(status).not.toHaveProperty('observedDeploymentConfig');
});

test('of several objects the oldest counts', () => {
  const at = (name: string, creationTimestamp: string): KubeVirt => ({
    metadata: { name, creationTimestamp },
    spec: {},
  });
  expect(theKubeVirt([at('b', '2026-02-01T00:00:00Z'), at('a', '2026-01-01T00:00:00Z')])?.metadata?.name).toBe('a');
});
