import { describe, expect, test } from '@jest/globals';
import type { ClusterConfig } from '../../../../../api/cluster-config/index.ts';
import type { LaunchInput } from '../../../../../activities/controller/launch-manifest/index.ts';
import { configured, gated, withDomain } from '../../../../support/instances.ts';
import { container, render } from './render.ts';

const { featureGates } = gated([], ['ImageVolume']);
const HELPERS = ['guest-console-log', 'container-disk-binary', 'volumeos-init', 'volumeos'];

/** What the cluster's configuration says of both types of helpers. */
const saying = (resources: object): ClusterConfig => ({
  ...configured({
    supportContainerResources: ['guest-console-log', 'container-disk'].map((type) => ({ type, resources })),
  }),
  featureGates,
});

/** "requests, limits" of each helper, CPU before memory, as in 5m/35M. */
const sizes = (domain: object, config: ClusterConfig, more: Partial<LaunchInput> = {}): Record<string, string> => {
  const volumes = [{ name: 'os', containerDisk: { image: 'r.test/os:1' } }];
  const pod = render(withDomain(domain, { volumes }), { config, ...more });
  return Object.fromEntries(
    HELPERS.map((name) => {
      const { requests = {}, limits = {} } = container(pod, name).resources ?? {};
      const written = [requests, limits].map(({ cpu = '-', memory = '-' }) => `${cpu}/${memory}`);
      return [name, written.join(', ')];
    }),
  );
};

const BY_DEFAULT = {
  'guest-console-log': '5m/35M, 15m/60M',
  'container-disk-binary': '10m/1M, 100m/40M',
  'volumeos-init': '1m/1M, 10m/40M',
  volumeos: '1m/1M, 10m/40M',
};
const GUARANTEED = {
  'guest-console-log': '15m/60M, 15m/60M',
  'container-disk-binary': '10m/40M, 10m/40M',
  'volumeos-init': '10m/40M, 10m/40M',
  volumeos: '10m/40M, 10m/40M',
};
const PINNED = { cpu: { cores: 1, dedicatedCpuPlacement: true } };
const EQUAL = {
  resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } },
};

describe('by default', () => {
  test.each([
    ["KubeVirt's sizes", {}, BY_DEFAULT],
    ['also beside a guest with a CPU limit', { resources: { limits: { cpu: '2' } } }, BY_DEFAULT],
    ['requests equal limits beside a pinned guest', PINNED, GUARANTEED],
    ['and beside a guaranteed one', EQUAL, GUARANTEED],
  ])('%s', (_, domain, expected) => {
    expect(sizes(domain, saying({}))).toEqual(expected);
  });

  test('images take room on the disk', () => {
    const volumes = [{ name: 'os', containerDisk: { image: 'r.test/os:1' } }];
    const pod = render(withDomain({}, { volumes }), { config: saying({}) });
    for (const name of ['volumeos', 'volumeos-init'])
      expect(container(pod, name).resources?.requests?.['ephemeral-storage']).toBe('50M');
  });
});

describe('the configuration overrides', () => {
  test('value by value', () => {
    expect(sizes({}, saying({ requests: { memory: '9M' }, limits: { cpu: '50m' } }))).toEqual({
      'guest-console-log': '5m/9M, 50m/60M',
      'container-disk-binary': '10m/9M, 50m/40M',
      'volumeos-init': '1m/9M, 50m/40M',
      volumeos: '1m/9M, 50m/40M',
    });
  });

  test('a guaranteed guest’s helpers request the limits that it names', () => {
    expect(sizes(EQUAL, saying({ requests: { cpu: '7m' }, limits: { cpu: '50m' } }))).toMatchObject({
      'guest-console-log': '50m/60M, 50m/60M',
      'container-disk-binary': '50m/40M, 50m/40M',
    });
  });

  test('0 is nothing said', () => {
    expect(sizes({}, saying({ requests: { cpu: '0', memory: 0 }, limits: { memory: '0' } }))).toEqual(BY_DEFAULT);
  });
});

describe('a CPU limit of 0', () => {
  const unthrottled = saying({ limits: { cpu: '0' } });

  test('is none', () => {
    expect(sizes({}, unthrottled)).toEqual({
      'guest-console-log': '5m/35M, -/60M',
      'container-disk-binary': '10m/1M, -/40M',
      'volumeos-init': '1m/1M, -/40M',
      volumeos: '1m/1M, -/40M',
    });
  });

  test.each<[string, object, Partial<LaunchInput>, object]>([
    ['a guest with a CPU limit', { resources: { limits: { cpu: '2' } } }, {}, BY_DEFAULT],
    ['a guest that a quota limits', {}, { quotaOnLimits: { cpu: true } }, BY_DEFAULT],
    ['a pinned guest', PINNED, {}, GUARANTEED],
    ['a guaranteed guest', EQUAL, {}, GUARANTEED],
  ])("but KubeVirt's beside %s", (_, domain, more, expected) => {
    expect(sizes(domain, unthrottled, more)).toEqual(expected);
  });
});
