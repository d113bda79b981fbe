import { describe, expect, test } from '@jest/globals';
import { effectiveConfiguration, hasGate, UnreadableConfiguration } from '../../../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../../../api/kubevirt/types.ts';

/** As it comes from the API server: any JSON. */
const kubevirt = (configuration: unknown, annotations?: Record<string, string>): KubeVirt =>
  JSON.parse(
    JSON.stringify({ metadata: { namespace: 'virtflow', name: 'main', annotations }, spec: { configuration } }),
  ) as KubeVirt;

describe('defaults', () => {
  test.each([undefined, kubevirt({}), kubevirt(undefined)])(
    'an absent or empty object gives upstream defaults',
    (input) => {
      expect(effectiveConfiguration(input)).toMatchObject({
        useEmulation: false,
        defaultArchitecture: 'amd64',
        machineTypes: { amd64: 'q35', arm64: 'virt', s390x: 's390-ccw-virtio' },
        cpuRequest: '100m',
        cpuAllocationRatio: 10,
        memoryOvercommit: 100,
        imagePullPolicy: 'IfNotPresent',
        evictionStrategy: 'None',
        defaultNetworkInterface: 'bridge',
        virtualMachineOptions: { freePageReporting: true, serialConsoleLog: true },
        memBalloonStatsPeriod: 10,
        liveUpdate: { maxHotplugRatio: 4 },
        migrations: {
          ...{ parallelMigrationsPerCluster: 5, parallelOutboundMigrationsPerNode: 2 },
          ...{ bandwidthPerMigration: '0', completionTimeoutPerGiB: 150, progressTimeout: 150 },
          ...{ allowAutoConverge: false, allowPostCopy: false, unsafeMigrationOverride: false },
          ...{ utilityVolumesTimeout: 150, nodeDrainTaintKey: 'kubevirt.io/drain' },
        },
      });
    },
  );

  test('what is not configured is absent, not undefined', () => {
    const config = effectiveConfiguration(undefined);
    expect(JSON.parse(JSON.stringify(config))).toStrictEqual(config);
  });
});

describe('settings', () => {
  test.each([
    ['emulation', { developerConfiguration: { useEmulation: true } }, { useEmulation: true }],
    ['network', { network: { defaultNetworkInterface: 'masquerade' } }, { defaultNetworkInterface: 'masquerade' }],
    ['overhead ratio', { additionalGuestMemoryOverheadRatio: '1.5' }, { additionalGuestMemoryOverheadRatio: 1.5 }],
    ['CPU request as a number', { cpuRequest: 1 }, { cpuRequest: '1' }],
    ['SELinux', { selinuxLauncherType: 'x_t' }, { selinuxLauncherType: 'x_t' }],
    ['overall machine type', { machineType: 'pc-q35-9.0' }, { machineTypes: { amd64: 'pc-q35-9.0' } }],
    [
      'machine type of one architecture',
      { architectureConfiguration: { arm64: { machineType: 'virt-8.2' } } },
      { machineTypes: { amd64: 'q35', arm64: 'virt-8.2' } },
    ],
    [
      'presence switches',
      { virtualMachineOptions: { disableSerialConsoleLog: {}, disableFreePageReporting: {} } },
      { virtualMachineOptions: { freePageReporting: false, serialConsoleLog: false } },
    ],
    [
      'a local seccomp profile',
      { seccompConfiguration: { virtualMachineInstanceProfile: { customProfile: { localhostProfile: 'p.json' } } } },
      { seccomp: { localhostProfile: 'p.json' } },
    ],
    [
      'helper containers',
      { supportContainerResources: [{ type: 'container-disk', resources: { limits: { cpu: 1 } } }] },
      { supportContainers: { 'container-disk': { requests: {}, limits: { cpu: '1' } } } },
    ],
    [
      'migrations keep unknown settings',
      { migrations: { progressTimeout: 3, later: 1 } },
      { migrations: { progressTimeout: 3, later: 1, completionTimeoutPerGiB: 150 } },
    ],
  ])('%s', (_, configuration, expected) => {
    expect(effectiveConfiguration(kubevirt(configuration))).toMatchObject(expected);
  });

  test.each([
    ['Beta is on', {}, 'ImageVolume', true],
    ['Beta can be turned off', { disabledFeatureGates: ['ImageVolume'] }, 'ImageVolume', false],
    ['Alpha is off', {}, 'HostDisk', false],
    ['Alpha can be turned on', { featureGates: ['HostDisk'] }, 'HostDisk', true],
    ['named both ways is on', { featureGates: ['Snapshot'], disabledFeatureGates: ['Snapshot'] }, 'Snapshot', true],
  ])('feature gate: %s', (_, developerConfiguration, gate, expected) => {
    expect(hasGate(effectiveConfiguration(kubevirt({ developerConfiguration })), gate)).toBe(expected);
  });

  test.each([
    ['kubevirt.io/skip-backup-hooks', 'skipBackupHooks'],
    ['virtflow.io/skip-image-init-containers', 'skipImageInitContainers'],
  ] as const)('annotation %s is off unless it says true', (annotation, setting) => {
    expect(effectiveConfiguration(kubevirt({}, { [annotation]: 'true' }))[setting]).toBe(true);
    expect(effectiveConfiguration(kubevirt({}, { [annotation]: 'false' }))[setting]).toBe(false);
    expect(effectiveConfiguration(kubevirt({}))[setting]).toBe(false);
  });

  test('fields of other releases are let through', () => {
    expect(effectiveConfiguration(kubevirt({ fieldOfTomorrow: { a: 1 } })).useEmulation).toBe(false);
  });
});

describe('an unreadable object', () => {
  test.each([
    ['spec.configuration.developerConfiguration.useEmulation', { developerConfiguration: { useEmulation: 'yes' } }],
    [
      'spec.configuration.developerConfiguration.featureGates[1]',
      { developerConfiguration: { featureGates: ['A', 1] } },
    ],
    ['spec.configuration.network.defaultNetworkInterface', { network: { defaultNetworkInterface: 'tunnel' } }],
    ['spec.configuration.cpuRequest', { cpuRequest: 'much' }],
    [
      'spec.configuration.developerConfiguration.cpuAllocationRatio',
      { developerConfiguration: { cpuAllocationRatio: 0 } },
    ],
    ['spec.configuration', 'none'],
  ])('names the field %s and the remedy', (field, configuration) => {
    const read = (): unknown => effectiveConfiguration(kubevirt(configuration));
    expect(read).toThrow(UnreadableConfiguration);
    expect(read).toThrow(`KubeVirt virtflow/main cannot be read: ${field}: `);
    expect(read).toThrow('kubectl -n virtflow edit kubevirt main');
  });
});
