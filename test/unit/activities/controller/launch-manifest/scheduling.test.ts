import { describe, expect, test } from '@jest/globals';
import { podAffinity } from '../../../../../activities/controller/launch-manifest/affinity.ts';
import { nodeSelector } from '../../../../../activities/controller/launch-manifest/node-selector.ts';
import { configured, gated, instance, withDomain } from '../../../../support/instances.ts';
import { render, specOf } from './render.ts';

describe('node labels', () => {
  const labels = (domain: object, spec: object = {}, config = configured()): string[] =>
    Object.entries(nodeSelector(withDomain(domain, spec), config))
      .map(([key, value]) => (value === 'true' ? key : `${key}=${value}`))
      .filter((label) => label !== 'kubevirt.io/schedulable')
      .sort();

  test.each<[string, object, object, string[]]>([
    ['architecture', {}, { architecture: 'AMD64' }, ['kubernetes.io/arch=amd64']],
    ['machine type', { machine: { type: 'q35' } }, {}, ['machine-type.node.kubevirt.io/q35']],
    [
      'a CPU model with required features',
      {
        cpu: {
          model: 'Haswell',
          features: [{ name: 'aes' }, { name: 'pcid', policy: 'require' }, { name: 'x', policy: 'optional' }],
        },
      },
      {},
      ['cpu-feature.node.kubevirt.io/aes', 'cpu-feature.node.kubevirt.io/pcid', 'cpu-model.node.kubevirt.io/Haswell'],
    ],
    ['host-model is everywhere', { cpu: { model: 'host-model' } }, {}, []],
    ['host-passthrough is everywhere', { cpu: { model: 'host-passthrough' } }, {}, []],
    ['dedicated CPUs', { cpu: { dedicatedCpuPlacement: true } }, {}, ['kubevirt.io/cpumanager']],
    ['realtime', { cpu: { realtime: {} } }, {}, ['kubevirt.io/realtime']],
    ['SEV', { launchSecurity: { sev: {} } }, {}, ['kubevirt.io/sev']],
    [
      'SEV-ES',
      { launchSecurity: { sev: { policy: { encryptedState: true } } } },
      {},
      ['kubevirt.io/sev', 'kubevirt.io/sev-es'],
    ],
    ['SEV-SNP', { launchSecurity: { snp: {} } }, {}, ['kubevirt.io/sev', 'kubevirt.io/sev-snp']],
    ['TDX', { launchSecurity: { tdx: {} } }, {}, ['kubevirt.io/tdx']],
    [
      'secure execution',
      { launchSecurity: {} },
      { architecture: 's390x' },
      ['kubernetes.io/arch=s390x', 'kubevirt.io/s390-pv'],
    ],
  ])('%s', (_, domain, spec, expected) => {
    expect(labels(domain, spec)).toEqual(expected);
  });

  test("the cluster's selectors, overridden by the VMI's", () => {
    const config = configured({ developerConfiguration: { nodeSelectors: { zone: 'a', disk: 'ssd' } } });
    expect(labels({}, { nodeSelector: { zone: 'b' } }, config)).toEqual(['disk=ssd', 'zone=b']);
  });

  test('enlightenments of the kernel count only with the gate', () => {
    const hyperv = { vpindex: { enabled: true }, relaxed: { enabled: true }, reset: { enabled: false }, evmcs: {} };
    expect(labels({ features: { hyperv } })).toEqual([]);
    expect(labels({ features: { hyperv } }, {}, gated(['HypervStrictCheck']))).toEqual([
      'cpu-vendor.node.kubevirt.io/Intel',
      'hyperv.node.kubevirt.io/vpindex',
    ]);
  });

  test('a running guest keeps its machine and its clock', () => {
    const vmi = withDomain({
      machine: { type: 'q35' },
      cpu: { model: 'host-model', features: [{ name: 'invtsc', policy: 'require' }] },
    });
    vmi.status = { machine: { type: 'pc-q35-9.0' }, topologyHints: { tscFrequency: 2500 } };
    expect(nodeSelector(vmi, configured())).toMatchObject({
      'machine-type.node.kubevirt.io/pc-q35-9.0': 'true',
      'scheduling.node.kubevirt.io/tsc-frequency-2500': 'true',
    });
  });
});

describe('affinity', () => {
  const obsolete = { key: 'node-labeller.kubevirt.io/obsolete-host-model', operator: 'DoesNotExist' };

  test('host-model avoids nodes whose model is obsolete', () => {
    expect(podAffinity(withDomain({ cpu: { model: 'host-model' } }))?.nodeAffinity).toEqual({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [obsolete] }] },
    });
    expect(podAffinity(withDomain({ cpu: { model: 'Haswell' } }))).toBeUndefined();
  });

  test('a forbidden CPU feature is kept away in each of the alternatives', () => {
    const rack = { key: 'rack', operator: 'In', values: ['1'] };
    const preferred = [{ weight: 1, preference: {} }];
    const affinity = {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [rack] }, { matchFields: [] }],
        },
      },
      podAffinity: {},
    };
    const vmi = withDomain({ cpu: { model: 'Haswell', features: [{ name: 'svm', policy: 'forbid' }] } }, { affinity });
    const svm = { key: 'cpu-feature.node.kubevirt.io/svm', operator: 'DoesNotExist' };
    expect(podAffinity(vmi)).toEqual({
      podAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [rack, svm] }, { matchFields: [], matchExpressions: [svm] }],
        },
      },
    });
  });
});

test('scheduling, names and DNS are copied from the VMI', () => {
  const copied = {
    subdomain: 'farm',
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['192.0.2.1'] },
    priorityClassName: 'gold',
    schedulerName: 'second',
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
  };
  expect(specOf(render(instance({ ...copied, hostname: 'www' })))).toMatchObject({ ...copied, hostname: 'www' });
  expect(Object.keys(specOf(render(instance())))).not.toEqual(expect.arrayContaining(Object.keys(copied)));
});

test.each([
  ['web', 'web'],
  ['web.shop.example', 'web'],
  ['a'.repeat(62) + '-b', 'a'.repeat(62)],
])('the host name of %s is its first label', (name, hostname) => {
  expect(specOf(render(instance({}, { name }))).hostname).toBe(hostname);
});

test.each([
  [undefined, 60],
  [0, 30],
  [75, 105],
])('a grace period of %s seconds gives the Pod %s', (terminationGracePeriodSeconds, seconds) => {
  const vmi = instance(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds });
  expect(specOf(render(vmi)).terminationGracePeriodSeconds).toBe(seconds);
});
