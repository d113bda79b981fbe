import { describe, expect, test } from '@jest/globals';
import { computeResources } from '../../../../../activities/controller/launch-manifest/resources.ts';
import type { LaunchInput } from '../../../../../activities/controller/launch-manifest/index.ts';
import { configured, gated, withDomain } from '../../../../support/instances.ts';
import { launch } from './render.ts';

const emulated = configured({ developerConfiguration: { useEmulation: true } });
const resources = (
  domain: object,
  more: Partial<LaunchInput> = {},
  metadata: object = {},
): ReturnType<typeof computeResources> =>
  computeResources(launch(withDomain(domain, {}, metadata), { config: emulated, ...more }));

/** One vCPU: 240 + 8 + 8 + 32. */
const OVERHEAD = 288;

describe('memory', () => {
  test.each<[string, object, string | undefined, string | undefined]>([
    ['guest memory is requested', { memory: { guest: '1Gi' } }, `${1024 + OVERHEAD}Mi`, undefined],
    [
      'a request of zero gives way to the limit',
      { resources: { requests: { memory: '0' }, limits: { memory: '1Gi' } } },
      `${1024 + OVERHEAD}Mi`,
      `${1024 + OVERHEAD}Mi`,
    ],
    [
      'a limit alone is the request',
      { resources: { limits: { memory: '1Gi' } } },
      `${1024 + OVERHEAD}Mi`,
      `${1024 + OVERHEAD}Mi`,
    ],
    [
      'overhead may be overcommitted, not in the limit',
      { memory: { guest: '1Gi' }, resources: { overcommitGuestOverhead: true, limits: { memory: '2Gi' } } },
      '2Gi',
      `${2048 + OVERHEAD}Mi`,
    ],
  ])('%s', (_, domain, request, limit) => {
    const { requests, limits } = resources(domain);
    expect([requests['memory'], limits['memory']]).toEqual([request, limit]);
  });

  test('an own request stands, with overhead and page tables', () => {
    const { requests } = resources({ memory: { guest: '4Gi' }, resources: { requests: { memory: '1000k' } } });
    expect(requests['memory']).toBe(String(1_000_000 + Math.trunc(1_000_000 / 512) + OVERHEAD * 2 ** 20));
  });

  test('overcommitment shrinks the guest, never the overhead', () => {
    const config = configured({ developerConfiguration: { useEmulation: true, memoryOvercommit: 200 } });
    expect(resources({ memory: { guest: '1Gi' } }, { config }).requests['memory']).toBe(`${512 + OVERHEAD}Mi`);
  });

  test('a namespace whose quota bounds memory limits gets twice the request, or by its own ratio', () => {
    const quotaOnLimits = { memory: true };
    const domain = { memory: { guest: '736Mi' } };
    expect(resources(domain, { quotaOnLimits }).limits['memory']).toBe('2048Mi');
    const namespaceLabels = { 'alpha.kubevirt.io/auto-memory-limits-ratio': '1.5' };
    expect(resources(domain, { quotaOnLimits, namespaceLabels }).limits['memory']).toBe('1536Mi');
    const nonsense = { 'alpha.kubevirt.io/auto-memory-limits-ratio': '0.5' };
    expect(resources(domain, { quotaOnLimits, namespaceLabels: nonsense }).limits['memory']).toBe('2048Mi');
  });
});

describe('huge pages', () => {
  const hugepages = { pageSize: '2Mi' };

  test('the guest lies in huge pages, the overhead in ordinary memory', () => {
    const { requests, limits } = resources({ memory: { guest: '1Gi', hugepages } });
    expect(requests).toMatchObject({ 'hugepages-2Mi': '1Gi', memory: `${OVERHEAD}Mi` });
    expect(limits).toMatchObject({ 'hugepages-2Mi': '1Gi' });
    expect(limits['memory']).toBeUndefined();
  });

  test('what is requested beyond the guest stays ordinary memory', () => {
    const { requests, limits } = resources({
      memory: { guest: '1Gi', hugepages },
      resources: { requests: { memory: '1536Mi' }, limits: { memory: '2Gi' } },
    });
    expect(requests['hugepages-2Mi']).toBe('1Gi');
    const pageTables = 3;
    expect(requests['memory']).toBe(`${512 + OVERHEAD + pageTables}Mi`);
    expect(limits['memory']).toBe(`${1024 + OVERHEAD + pageTables}Mi`);
  });
});

describe('CPU', () => {
  test.each<[string, object, object, string | undefined]>([
    ['a tenth per vCPU', { cpu: { cores: 3 } }, {}, '300m'],
    ['whole CPUs', { cpu: { cores: 20 } }, {}, '2'],
    ['more than one', { cpu: { cores: 25 } }, {}, '2500m'],
    ['by the configured ratio', { cpu: { cores: 2 } }, { cpuAllocationRatio: 4 }, '500m'],
    ['no topology at all', {}, {}, '100m'],
    ['an own request stands', { cpu: { cores: 2 }, resources: { requests: { cpu: '1' } } }, {}, '1'],
    ['threads of an IO pool count', { cpu: { cores: 1 }, ioThreads: { supplementalPoolThreadCount: 2 } }, {}, '300m'],
  ])('%s', (_, domain, developer, request) => {
    const config = configured({ developerConfiguration: { useEmulation: true, ...developer } });
    expect(resources(domain, { config }).requests['cpu']).toBe(request);
  });

  test('a limit only where the namespace asks for one', () => {
    const config = configured({ autoCPULimitNamespaceLabelSelector: { matchLabels: { auto: 'yes' } } });
    expect(resources({ cpu: { cores: 3 } }, { config }).limits['cpu']).toBeUndefined();
    expect(resources({ cpu: { cores: 3 } }, { config, namespaceLabels: { auto: 'yes' } }).limits['cpu']).toBe('3');
    expect(resources({ cpu: { cores: 3 } }, { quotaOnLimits: { cpu: true } }).limits['cpu']).toBe('3');
  });

  test.each<[string, object, object, string]>([
    ['whole CPUs', { cores: 4 }, {}, '4'],
    ['one more for the emulator', { cores: 4, isolateEmulatorThread: true }, {}, '5'],
    [
      'two more keep an even number',
      { cores: 4, isolateEmulatorThread: true },
      { annotations: { 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity': '' } },
      '6',
    ],
    [
      'one more suffices for an odd number',
      { cores: 3, isolateEmulatorThread: true },
      { annotations: { 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity': '' } },
      '4',
    ],
  ])('dedicated: %s, requests equal to limits', (_, cpu, metadata, expected) => {
    const { requests, limits } = resources(
      { memory: { guest: '1Gi' }, cpu: { ...cpu, dedicatedCpuPlacement: true } },
      {},
      metadata,
    );
    expect([requests['cpu'], limits['cpu']]).toEqual([expected, expected]);
    expect(limits['memory']).toBe(requests['memory']);
  });

  test('dedicated without a topology takes the given CPUs', () => {
    const { limits } = resources({ cpu: { dedicatedCpuPlacement: true }, resources: { limits: { cpu: '3' } } });
    expect(limits['cpu']).toBe('3');
  });
});

describe('devices', () => {
  const nic = { devices: { interfaces: [{ name: 'default', masquerade: {} }] } };
  const devices = (domain: object, more: Partial<LaunchInput> = {}): string[] =>
    Object.keys(resources(domain, more).limits)
      .filter((name) => name.startsWith('devices.'))
      .sort();

  test.each<[string, object, Partial<LaunchInput>, string[]]>([
    ['KVM and its network', nic, { config: configured() }, ['kvm', 'tun', 'vhost-net']],
    ['emulation needs neither kvm nor vhost-net', nic, {}, ['tun']],
    [
      'another model needs no vhost-net',
      { devices: { interfaces: [{ name: 'a', model: 'e1000', masquerade: {} }] } },
      { config: configured() },
      ['kvm', 'tun'],
    ],
    ['no network, no tun', { devices: { autoattachPodInterface: false } }, { config: configured() }, ['kvm']],
    ['vsock', { devices: { autoattachPodInterface: false, autoattachVSOCK: true } }, {}, ['vhost-vsock']],
    ['SEV', { devices: { autoattachPodInterface: false }, launchSecurity: { sev: {} } }, {}, ['sev']],
    ['TDX', { devices: { autoattachPodInterface: false }, launchSecurity: { tdx: {} } }, {}, ['tdx']],
    [
      'persistent reservation',
      { devices: { autoattachPodInterface: false, disks: [{ name: 'l', lun: { reservation: true } }] } },
      {},
      ['pr-helper'],
    ],
    ['IOMMUFD', { devices: { autoattachPodInterface: false } }, { config: gated(['IOMMUFD']) }, ['iommufd', 'kvm']],
  ])('%s', (_, domain, more, expected) => {
    expect(devices(domain, more)).toEqual(expected.map((name) => `devices.kubevirt.io/${name}`));
  });

  test('passed-through devices are counted by resource', () => {
    const gpus = [
      { name: 'a', deviceName: 'v.test/gpu' },
      { name: 'b', deviceName: 'v.test/gpu' },
    ];
    const { requests, limits } = resources({
      devices: { gpus, hostDevices: [{ name: 'c', deviceName: 'v.test/nic' }] },
    });
    expect(requests).toMatchObject({ 'v.test/gpu': '2', 'v.test/nic': '1' });
    expect(limits).toMatchObject({ 'v.test/gpu': '2', 'v.test/nic': '1' });
  });
});

test('disk space for logs and state is requested, and added to a limit', () => {
  expect(resources({}).requests['ephemeral-storage']).toBe('50000000');
  const own = resources({
    resources: { requests: { 'ephemeral-storage': '1G' }, limits: { 'ephemeral-storage': '2G' } },
  });
  expect([own.requests['ephemeral-storage'], own.limits['ephemeral-storage']]).toEqual(['1050000000', '2050000000']);
});
