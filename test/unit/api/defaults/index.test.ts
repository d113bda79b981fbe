import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withDefaults } from '../../../../api/defaults/index.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import { configured, instance, withDomain } from '../../../support/instances.ts';

const complete = (domain: object, spec: object = {}, configuration: object = {}): VirtualMachineInstance =>
  withDefaults(withDomain(domain, spec), configured(configuration));

test('the smallest VMI becomes a whole one', () => {
  expect(withDefaults(withDomain({ memory: { guest: '1Gi' } }), configured())).toEqual({
    ...instance(),
    metadata: { ...instance().metadata, annotations: { 'kubevirt.io/pci-topology-version': 'v3' } },
    spec: {
      architecture: 'amd64',
      evictionStrategy: 'None',
      domain: {
        cpu: { sockets: 1, cores: 1, threads: 1, maxSockets: 4, model: 'host-model' },
        devices: { interfaces: [{ name: 'default', bridge: {} }] },
        features: { acpi: { enabled: true } },
        firmware: { uuid: instance().metadata?.uid },
        machine: { type: 'q35' },
        memory: { guest: '1Gi', maxGuest: '4Gi' },
        resources: {},
      },
      networks: [{ name: 'default', pod: {} }],
    },
    status: {
      runtimeUser: 107,
      currentCPUTopology: { sockets: 1, cores: 1, threads: 1 },
      memory: { guestAtBoot: '1Gi', guestCurrent: '1Gi', guestRequested: '1Gi' },
    },
  });
});

test('the input is left alone, and a second time changes nothing', () => {
  const domains = fc.record(
    {
      cpu: fc.record({ cores: fc.nat(4), sockets: fc.nat(4) }, { requiredKeys: [] }),
      memory: fc.record({ guest: fc.constantFrom('64M', '1Gi', '3Gi') }, { requiredKeys: [] }),
      resources: fc.record({
        limits: fc.record(
          { cpu: fc.constantFrom('1500m', '2'), memory: fc.constantFrom('1Gi', '0') },
          { requiredKeys: [] },
        ),
      }),
      machine: fc.record({ type: fc.constantFrom('', 'q35', 'pc-i440fx-2.10') }, { requiredKeys: [] }),
      features: fc.record({
        hyperv: fc.record(
          { synic: fc.constant({}), evmcs: fc.constant({}), tlbflush: fc.constant({ direct: {} }) },
          { requiredKeys: [] },
        ),
      }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(domains, fc.constantFrom('', 'amd64', 'arm64', 's390x'), (domain, architecture) => {
      const vmi = withDomain(domain, { architecture });
      const before = structuredClone(vmi);
      const once = withDefaults(vmi, configured());
      expect(vmi).toEqual(before);
      expect(withDefaults(once, configured())).toEqual(once);
    }),
  );
});

describe('memory of the guest', () => {
  test.each<[string, object, string | undefined]>([
    ['as given', { memory: { guest: '1Gi' }, resources: { requests: { memory: '2Gi' } } }, '1Gi'],
    ['the request', { resources: { requests: { memory: '2Gi' }, limits: { memory: '3Gi' } } }, '2Gi'],
    ['the limit', { resources: { requests: { memory: '0' }, limits: { memory: '3Gi' } } }, '3Gi'],
    ['one huge page', { memory: { hugepages: { pageSize: '2Mi' } } }, '2Mi'],
    ['none: validation says so', { memory: { hugepages: { pageSize: 'big' } } }, undefined],
  ])('%s', (_, domain, expected) => {
    expect(complete(domain).spec.domain.memory?.guest).toBe(expected);
  });
});

describe('CPU', () => {
  test.each<[string, object, object]>([
    ['sockets of the limit', { resources: { limits: { cpu: '1500m' } } }, { sockets: 2, cores: 1, threads: 1 }],
    ['sockets of the request', { resources: { requests: { cpu: '3' } } }, { sockets: 3, cores: 1, threads: 1 }],
    ['a topology stands', { cpu: { cores: 2 } }, { cores: 2 }],
    ['at most 512 vCPUs', { cpu: { sockets: 10, cores: 10, threads: 2 } }, { maxSockets: 25 }],
    ['never below what runs', { cpu: { sockets: 600, cores: 1, threads: 1 } }, { maxSockets: 600 }],
  ])('%s', (_, domain, expected) => {
    expect(complete(domain).spec.domain.cpu).toMatchObject(expected);
  });

  test('a limit without a request is the request', () => {
    expect(complete({ resources: { limits: { cpu: '2' } } }).spec.domain.resources?.requests).toEqual({ cpu: '2' });
  });

  test('a configured request goes to those that say nothing and share CPUs', () => {
    const requests = (domain: object): unknown =>
      complete(domain, {}, { cpuRequest: '250m' }).spec.domain.resources?.requests;
    expect(requests({})).toEqual({ cpu: '250m' });
    expect(requests({ resources: { requests: { cpu: '1' } } })).toEqual({ cpu: '1' });
    expect(requests({ cpu: { dedicatedCpuPlacement: true } })).toBeUndefined();
  });

  test('the model: own, configured, host-model, on Arm host-passthrough', () => {
    const model = (cpu: object, spec: object = {}, configuration: object = {}): unknown =>
      complete({ cpu }, spec, configuration).spec.domain.cpu?.model;
    expect(model({ model: 'EPYC' }, {}, { cpuModel: 'Westmere' })).toBe('EPYC');
    expect(model({}, {}, { cpuModel: 'Westmere' })).toBe('Westmere');
    expect(model({})).toBe('host-model');
    expect(model({}, { architecture: 'arm64' })).toBe('host-passthrough');
  });
});

describe('room for memory that is plugged in', () => {
  const maxGuest = (domain: object, spec: object = {}, configuration: object = {}): unknown =>
    complete(domain, spec, configuration).spec.domain.memory?.maxGuest;

  test.each<[string, object, object, object, string | undefined]>([
    ['four times', { memory: { guest: '2Gi' } }, {}, {}, '8Gi'],
    [
      'the configured ratio',
      { memory: { guest: '2Gi' } },
      {},
      { liveUpdateConfiguration: { maxHotplugRatio: 2 } },
      '4Gi',
    ],
    [
      'the configured maximum',
      { memory: { guest: '2Gi' } },
      {},
      { liveUpdateConfiguration: { maxGuest: '6Gi' } },
      '6Gi',
    ],
    [
      'none above the maximum',
      { memory: { guest: '8Gi' } },
      {},
      { liveUpdateConfiguration: { maxGuest: '6Gi' } },
      undefined,
    ],
    ['none below 1 GiB', { memory: { guest: '1022Mi' } }, {}, {}, undefined],
    ['none when unaligned', { memory: { guest: '1025Mi' } }, {}, {}, undefined],
    [
      'none with other huge pages unaligned',
      { memory: { guest: '1500Mi', hugepages: { pageSize: '1Gi' } } },
      {},
      {},
      undefined,
    ],
    ['none on other machines', { memory: { guest: '2Gi' } }, { architecture: 's390x' }, {}, undefined],
    ['none with encryption', { memory: { guest: '2Gi' }, launchSecurity: { sev: {} } }, {}, {}, undefined],
    ['none for realtime', { memory: { guest: '2Gi' }, cpu: { realtime: {} } }, {}, {}, undefined],
    [
      'none when changes wait for a restart',
      { memory: { guest: '2Gi' } },
      {},
      { vmRolloutStrategy: 'Stage' },
      undefined,
    ],
  ])('%s', (_, domain, spec, configuration, expected) => {
    expect(maxGuest(domain, spec, configuration)).toBe(expected);
  });
});

describe('network', () => {
  const networkOf = (devices: object, spec: object = {}, configuration: object = {}): unknown => {
    const { domain, networks } = complete({ devices }, spec, configuration).spec;
    return [domain.devices.interfaces, networks];
  };

  test.each<[string, object, object, object, unknown]>([
    [
      'the configured binding',
      {},
      {},
      { network: { defaultNetworkInterface: 'masquerade' } },
      [[{ name: 'default', masquerade: {} }], [{ name: 'default', pod: {} }]],
    ],
    ['none when it is not wanted', { autoattachPodInterface: false }, {}, {}, [undefined, undefined]],
    [
      'none beside an own network',
      {},
      { networks: [{ name: 'a', multus: { networkName: 'a' } }] },
      {},
      [undefined, [{ name: 'a', multus: { networkName: 'a' } }]],
    ],
    [
      'none for a binding that is gone',
      {},
      {},
      { network: { defaultNetworkInterface: 'slirp' } },
      [undefined, undefined],
    ],
  ])('%s', (_, devices, spec, configuration, expected) => {
    expect(networkOf(devices, spec, configuration)).toEqual(expected);
  });
});

describe('disks', () => {
  test.each([
    ['amd64', 'sata'],
    ['arm64', 'virtio'],
    ['s390x', 'virtio'],
    ['riscv64', 'sata'],
  ])('on %s the bus is %s', (architecture, bus) => {
    const disks = [{ name: 'a' }, { name: 'b', cdrom: {} }, { name: 'c', lun: { bus: 'scsi' } }];
    expect(complete({ devices: { disks } }, { architecture }).spec.domain.devices.disks).toEqual([
      { name: 'a', disk: { bus } },
      { name: 'b', cdrom: { bus, readonly: true, tray: 'closed' } },
      { name: 'c', lun: { bus: 'scsi' } },
    ]);
  });

  test('a volume without disk or file system gets a disk', () => {
    const volumes = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const devices = { disks: [{ name: 'a', disk: { bus: 'virtio' } }], filesystems: [{ name: 'b', virtiofs: {} }] };
    expect(complete({ devices }, { volumes }).spec.domain.devices.disks?.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  test.each([
    ['r.test/os', 'Always'],
    ['r.test/os:latest', 'Always'],
    ['r.test/os:1', 'IfNotPresent'],
    ['r.test/os@sha256:00', 'IfNotPresent'],
  ])('%s is pulled %s', (image, imagePullPolicy) => {
    const [volume] = complete({}, { volumes: [{ name: 'os', containerDisk: { image } }] }).spec.volumes ?? [];
    expect(volume?.containerDisk).toEqual({ image, imagePullPolicy });
  });
});

describe('features', () => {
  test('what is mentioned is on', () => {
    const features = {
      apic: {},
      smm: { enabled: false },
      hyperv: { relaxed: {}, spinlocks: {}, tlbflush: { direct: {} } },
    };
    expect(complete({ features }).spec.domain.features).toMatchObject({
      acpi: { enabled: true },
      apic: { enabled: true },
      smm: { enabled: false },
      hyperv: {
        relaxed: { enabled: true },
        spinlocks: { enabled: true, spinlocks: 4096 },
        tlbflush: { direct: { enabled: true } },
      },
    });
  });

  test('an enlightenment brings what it needs, unless that was turned off', () => {
    const hyperv = (given: object): unknown => complete({ features: { hyperv: given } }).spec.domain.features?.hyperv;
    expect(hyperv({ synictimer: {} })).toMatchObject({ synic: { enabled: true }, vpindex: { enabled: true } });
    expect(hyperv({ ipi: {}, vpindex: { enabled: false } })).toMatchObject({ vpindex: { enabled: false } });
    const { cpu, features } = complete({ features: { hyperv: { evmcs: {} } } }).spec.domain;
    expect(features?.hyperv?.vapic).toEqual({ enabled: true });
    expect(cpu?.features).toEqual([{ name: 'vmx', policy: 'require' }]);
  });

  test('a framebuffer that is mentioned is on', () => {
    const gpus = [
      { name: 'a', deviceName: 'v/a', virtualGPUOptions: { display: { ramFB: {} } } },
      { name: 'b', deviceName: 'v/b', virtualGPUOptions: { display: { ramFB: { enabled: false } } } },
      { name: 'c', deviceName: 'v/c' },
    ];
    const displays = complete({ devices: { gpus } }).spec.domain.devices.gpus ?? [];
    expect(displays.map(({ virtualGPUOptions }) => virtualGPUOptions?.display?.ramFB?.enabled)).toEqual([
      ...[true, false, undefined],
    ]);
  });

  test('s390x has no ACPI and its own watchdog', () => {
    const { features, devices } = complete({ devices: { watchdog: { name: 'w' } } }, { architecture: 's390x' }).spec
      .domain;
    expect(features?.acpi).toEqual({ enabled: false });
    expect(devices.watchdog).toEqual({ name: 'w', diag288: { action: 'reset' } });
  });

  test('Arm guests boot by EFI', () => {
    expect(complete({}, { architecture: 'arm64' }).spec.domain.firmware?.bootloader).toEqual({
      efi: { secureBoot: false },
    });
  });
});

test('probes get Kubernetes’ defaults', () => {
  expect(
    complete({}, { readinessProbe: { tcpSocket: {}, timeoutSeconds: 0, periodSeconds: 5 } }).spec.readinessProbe,
  ).toEqual({
    tcpSocket: {},
    timeoutSeconds: 1,
    periodSeconds: 5,
    successThreshold: 1,
    failureThreshold: 3,
  });
});

test('the status of a running guest stands', () => {
  const vmi = withDomain({ memory: { guest: '2Gi' } });
  vmi.status = { memory: { guestAtBoot: '1Gi', guestCurrent: '2Gi', guestRequested: '2Gi' } };
  expect(withDefaults(vmi, configured()).status?.memory?.guestAtBoot).toBe('1Gi');
});
