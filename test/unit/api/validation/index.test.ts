import { describe, expect, test } from '@jest/globals';
import { withDefaults } from '../../../../api/defaults/index.ts';
import { causesAgainstStart, causesText } from '../../../../api/validation/index.ts';
import type { ClusterConfig } from '../../../../api/cluster-config/index.ts';
import { configured, gated, instance } from '../../../support/instances.ts';

const masquerade = configured({ network: { defaultNetworkInterface: 'masquerade' } });
const memory = { guest: '256Mi' };

/** Causes of a VMI of these parts, as "type field". */
const causes = (
  domain: object,
  spec: object = {},
  config: ClusterConfig = masquerade,
  metadata: object = {},
): string[] => {
  const vmi = instance({ ...spec, domain: { devices: {}, memory, ...domain } }, metadata);
  return causesAgainstStart(withDefaults(vmi, config), config).map(({ type, field }) => `${type} ${field}`);
};
const volumes = (...list: object[]): object => ({ volumes: list });
const containerDisk = { image: 'r.test/os:1' };

test('a sound VMI has no causes', () => {
  const list = [
    { name: 'os', containerDisk },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
    { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config', networkDataBase64: 'dmVyc2lvbjogMgo=' } },
  ];
  expect(causes({ devices: { disks: [{ name: 'os', disk: {} }], rng: {} } }, volumes(...list))).toEqual([]);
});

test('all causes come at once, with field and remedy', () => {
  const vmi = instance({ terminationGracePeriodSeconds: -1, volumes: [{ name: 'a', floppy: {} }] });
  const text = causesText(causesAgainstStart(withDefaults(vmi, masquerade), masquerade));
  expect(text).toContain('spec.domain.memory.guest: the guest has no memory: set it');
  expect(text).toContain('spec.volumes[0]: unknown volume type floppy: use for example containerDisk');
  expect(text).toContain('spec.terminationGracePeriodSeconds: -1 is negative');
});

describe('memory', () => {
  test.each<[string, object, string[]]>([
    ['none', { memory: {} }, ['FieldValueRequired spec.domain.memory.guest']],
    ['zero', { memory: { guest: '0' } }, ['FieldValueInvalid spec.domain.memory.guest']],
    ['too little', { memory: { guest: '1k' } }, ['FieldValueInvalid spec.domain.memory.guest']],
    [
      'a request above its limit',
      { resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } },
      ['FieldValueInvalid spec.domain.resources.requests.memory'],
    ],
    [
      'a negative request',
      { resources: { requests: { memory: '-1' } } },
      ['FieldValueInvalid spec.domain.resources.requests.memory'],
    ],
    [
      'pages of no size',
      { memory: { guest: '1Gi', hugepages: { pageSize: '0' } } },
      ['FieldValueInvalid spec.domain.memory.hugepages.pageSize'],
    ],
  ])('%s', (_, domain, expected) => {
    expect(causes(domain)).toEqual(expected);
  });
});

describe('volumes', () => {
  const V0 = 'FieldValueInvalid spec.volumes[0]';

  test.each<[string, object[], string[]]>([
    ['no source', [{ name: 'a' }], [V0]],
    ['an unknown source', [{ name: 'a', floppy: {} }], [V0]],
    ['two sources', [{ name: 'a', containerDisk, emptyDisk: { capacity: '1Gi' } }], [V0]],
    [
      'one name twice',
      [
        { name: 'a', containerDisk },
        { name: 'a', containerDisk },
      ],
      ['FieldValueInvalid spec.domain.devices.disks[1].name', 'FieldValueInvalid spec.volumes[1].name'],
    ],
    [
      'a name that is no label',
      [{ name: 'A.b', containerDisk }],
      ['FieldValueInvalid spec.domain.devices.disks[0].name'],
    ],
    ['a name too long', [{ name: 'a'.repeat(58), containerDisk }], [`${V0}.name`]],
    ['a name of the Pod’s own', [{ name: 'sockets', containerDisk }], [`${V0}.name`]],
    ['no image', [{ name: 'a', containerDisk: {} }], ['FieldValueRequired spec.volumes[0].containerDisk.image']],
    ['a path upwards', [{ name: 'a', containerDisk: { ...containerDisk, path: '/a/../b' } }], [`${V0}.containerDisk`]],
    ['the root as path', [{ name: 'a', containerDisk: { ...containerDisk, path: '/' } }], [`${V0}.containerDisk`]],
    [
      'no claim',
      [{ name: 'a', persistentVolumeClaim: { claimName: '' } }],
      ['FieldValueRequired spec.volumes[0].persistentVolumeClaim.claimName'],
    ],
    ['no size', [{ name: 'a', emptyDisk: { capacity: '0' } }], [`${V0}.emptyDisk.capacity`]],
  ])('%s', (_, list, expected) => {
    expect(causes({}, volumes(...list))).toEqual(expected);
  });

  const hostDisk = (disk: object, config = gated(['HostDisk'])): string[] =>
    causes({ devices: { autoattachPodInterface: false } }, volumes({ name: 'a', hostDisk: disk }), config);

  test.each<[string, object, string[]]>([
    ['one that exists', { path: '/srv/a.img', type: 'Disk' }, []],
    ['one to be made', { path: '/srv/a.img', type: 'DiskOrCreate', capacity: '1Gi' }, []],
    ['no path', { type: 'Disk' }, ['FieldValueNotFound spec.volumes[0].hostDisk.path']],
    ['a relative path', { path: 'a.img', type: 'Disk' }, [`${V0}.hostDisk.path`]],
    ['an unknown type', { path: '/a.img', type: 'Blob' }, [`${V0}.hostDisk.type`]],
    ['a size for one that exists', { path: '/a.img', type: 'Disk', capacity: '1Gi' }, [`${V0}.hostDisk.capacity`]],
    [
      'no size for one to be made',
      { path: '/a.img', type: 'DiskOrCreate' },
      ['FieldValueRequired spec.volumes[0].hostDisk.capacity'],
    ],
  ])('hostDisk: %s', (_, disk, expected) => {
    expect(hostDisk(disk)).toEqual(expected);
  });

  test('hostDisk needs its gate', () => {
    expect(hostDisk({ path: '/srv/a.img', type: 'Disk' }, masquerade)).toEqual([V0]);
  });
});

describe('disks', () => {
  const D0 = 'FieldValueInvalid spec.domain.devices.disks[0]';
  const disks = (...list: object[]): string[] =>
    causes({ devices: { disks: list } }, volumes({ name: 'a', containerDisk }));

  test.each<[string, object[], string[]]>([
    ['no volume', [{ name: 'b', disk: {} }], [`${D0}.name`]],
    ['an empty CD-ROM drive may stand alone', [{ name: 'b', cdrom: {} }], []],
    [
      'one name twice',
      [
        { name: 'a', disk: {} },
        { name: 'a', disk: {} },
      ],
      ['FieldValueInvalid spec.domain.devices.disks[1].name'],
    ],
    ['two kinds', [{ name: 'a', disk: {}, cdrom: {} }], [D0]],
    ['an unknown bus', [{ name: 'a', disk: { bus: 'ide' } }], [`${D0}.disk.bus`]],
    ['a boot order of zero', [{ name: 'a', disk: {}, bootOrder: 0 }], [`${D0}.bootOrder`]],
  ])('%s', (_, list, expected) => {
    expect(disks(...list)).toEqual(expected);
  });

  test('one boot order twice, over disks and interfaces', () => {
    const devices = {
      disks: [{ name: 'a', disk: {}, bootOrder: 1 }],
      interfaces: [{ name: 'n', masquerade: {}, bootOrder: 1 }],
    };
    expect(
      causes({ devices }, { ...volumes({ name: 'a', containerDisk }), networks: [{ name: 'n', pod: {} }] }),
    ).toEqual(['FieldValueInvalid spec.domain.devices.interfaces[0].bootOrder']);
  });
});

describe('cloud-init', () => {
  const field = 'FieldValueInvalid spec.volumes[0].cloudInitNoCloud';
  test.each<[string, object, string[]]>([
    ['a Secret', { secretRef: { name: 's' } }, []],
    ['just what fits', { userData: 'x'.repeat(2048) }, []],
    ['nothing', {}, [field]],
    ['a Secret and inline data', { userData: 'x', secretRef: { name: 's' } }, [field]],
    ['inline data twice', { networkData: 'x', networkDataBase64: 'eA==' }, [field]],
    ['no base64', { userDataBase64: 'not base64!' }, [`${field}.userDataBase64`]],
    ['base64 cut off', { networkDataBase64: 'eHh' }, [`${field}.networkDataBase64`]],
    ['too large', { userData: 'x'.repeat(2049) }, [field]],
    ['too large in bytes', { userData: 'é'.repeat(1025) }, [field]],
    ['base64 of just what fits', { userDataBase64: `${'eHh4'.repeat(682)}eHg=` }, []],
    ['base64 too large', { userDataBase64: 'eHh4'.repeat(683) }, [field]],
  ])('%s', (_, cloudInitNoCloud, expected) => {
    expect(causes({}, volumes({ name: 'seed', cloudInitNoCloud }))).toEqual(expected);
  });
});

describe('networks', () => {
  const I0 = 'spec.domain.devices.interfaces[0]';
  const pod = { name: 'n', pod: {} };
  const nic = { name: 'n', masquerade: {} };
  const networks = (interfaces: object[], list: object[]): string[] =>
    causes({ devices: { interfaces } }, { networks: list });

  test.each<[string, object[], object[], string[]]>([
    ['one of each', [nic], [pod], []],
    ['no network', [nic], [], [`FieldValueInvalid ${I0}.name`]],
    [
      'no interface',
      [nic],
      [pod, { name: 'm', multus: { networkName: 'm' } }],
      ['FieldValueRequired spec.networks[1].name', 'FieldValueNotSupported spec.networks[1].multus'],
    ],
    [
      'two Pod networks',
      [nic, { name: 'm', masquerade: {} }],
      [pod, { name: 'm', pod: {} }],
      ['FieldValueDuplicate spec.interfaces'],
    ],
    [
      'one network twice',
      [nic],
      [pod, { name: 'n', multus: { networkName: 'm' } }],
      [
        'FieldValueDuplicate spec.networks[1].name',
        `FieldValueInvalid ${I0}.name`,
        'FieldValueNotSupported spec.networks[1].multus',
      ],
    ],
    [
      'two interfaces of one network',
      [nic, nic],
      [pod],
      ['FieldValueDuplicate spec.domain.devices.interfaces[1].name'],
    ],
    [
      'a network of no type',
      [nic],
      [{ name: 'n' }],
      ['FieldValueRequired spec.networks[0]', `FieldValueInvalid ${I0}.name`],
    ],
    ['no binding', [{ name: 'n' }], [pod], [`FieldValueInvalid ${I0}`]],
    ['a malformed MAC', [{ ...nic, macAddress: '02:00' }], [pod], [`FieldValueInvalid ${I0}.macAddress`]],
    ['an unknown model', [{ ...nic, model: 'ne1' }], [pod], [`FieldValueNotSupported ${I0}.model`]],
    ['a bridge', [{ name: 'n', bridge: {} }], [pod], [`FieldValueNotSupported ${I0}.bridge`]],
  ])('%s', (_, interfaces, list, expected) => {
    expect(networks(interfaces, list)).toEqual(expected);
  });

  test('the cluster’s default binding is named with the remedy', () => {
    const vmi = instance({ domain: { devices: {}, memory } });
    const text = (config: ClusterConfig): string => causesText(causesAgainstStart(withDefaults(vmi, config), config));
    expect(text(configured())).toMatch(/interfaces\[0\]\.bridge: not supported yet: .*defaultNetworkInterface/);
    expect(text(configured({ network: { defaultNetworkInterface: 'slirp' } }))).toMatch(
      /not supported yet: the cluster's default binding is slirp: .*masquerade/,
    );
  });
});

describe('boot', () => {
  const field = 'spec.domain.firmware.kernelBoot';
  const image = 'r.test/kernel:1';
  test.each<[string, object, string[]]>([
    ['kernel and initrd', { kernelArgs: 'quiet', container: { image, kernelPath: '/k', initrdPath: '/i' } }, []],
    ['arguments alone', { kernelArgs: 'quiet' }, [`FieldValueInvalid ${field}.kernelArgs`]],
    ['no image', { container: { kernelPath: '/k' } }, [`FieldValueRequired ${field}.container.image`]],
    ['no file', { container: { image } }, [`FieldValueRequired ${field}.container`]],
    ['a relative path', { container: { image, kernelPath: 'k' } }, [`FieldValueInvalid ${field}.container.kernelPath`]],
  ])('%s', (_, kernelBoot, expected) => {
    expect(causes({ firmware: { kernelBoot } })).toEqual(expected);
  });

  test('bios and efi exclude each other', () => {
    expect(causes({ firmware: { bootloader: { bios: {}, efi: { secureBoot: false } } } })).toEqual([
      'FieldValueInvalid spec.domain.firmware.bootloader',
    ]);
  });
});

describe('names and lifecycle', () => {
  test('a name that leaves no room for the guest’s files', () => {
    const named = (length: number): string[] => causes({}, {}, masquerade, { name: 'a'.repeat(length) });
    expect(named(195)).toEqual([]);
    expect(named(196)).toEqual(['FieldValueInvalid metadata.name']);
  });

  test.each<[object, string]>([
    [{ hostname: 'under_score' }, 'spec.hostname'],
    [{ terminationGracePeriodSeconds: -5 }, 'spec.terminationGracePeriodSeconds'],
    [{ architecture: 'riscv64' }, 'spec.architecture'],
    [{ evictionStrategy: 'Sometimes' }, 'spec.evictionStrategy'],
    [{ startStrategy: 'Frozen' }, 'spec.startStrategy'],
  ])('%j', (spec, field) => {
    expect(causes({}, spec)).toEqual([`FieldValueInvalid ${field}`]);
  });
});

describe('what is not there yet is named', () => {
  test.each<[string, object, object]>([
    [
      'spec.accessCredentials',
      {},
      {
        accessCredentials: [
          { userPassword: { source: { secret: { secretName: 's' } }, propagationMethod: { qemuGuestAgent: {} } } },
        ],
      },
    ],
    ['spec.domain.devices.gpus', { devices: { gpus: [{ name: 'g', deviceName: 'v/g' }] } }, {}],
    ['spec.domain.devices.tpm', { devices: { tpm: {} } }, {}],
    [
      'spec.domain.firmware.bootloader.efi.persistent',
      { firmware: { bootloader: { efi: { persistent: true, secureBoot: false } } } },
      {},
    ],
    [
      'spec.domain.launchSecurity',
      { launchSecurity: { sev: {} }, firmware: { bootloader: { efi: { secureBoot: false } } } },
      {},
    ],
    ['spec.volumes[0].configMap', {}, volumes({ name: 'a', configMap: { name: 'm' } })],
    [
      'spec.volumes[0].persistentVolumeClaim.hotpluggable',
      {},
      volumes({ name: 'a', persistentVolumeClaim: { claimName: 'c', hotpluggable: true } }),
    ],
    ['spec.readinessProbe.guestAgentPing', {}, { readinessProbe: { guestAgentPing: {} } }],
    ['spec.livenessProbe.exec', {}, { livenessProbe: { exec: { command: ['x'] } } }],
  ])('%s', (field, domain, spec) => {
    expect(causes(domain, spec)).toEqual([`FieldValueNotSupported ${field}`]);
  });

  test('what is turned off is not asked for', () => {
    expect(
      causes({ devices: { tpm: { enabled: false }, autoattachVSOCK: false, gpus: [] } }, { accessCredentials: [] }),
    ).toEqual([]);
  });
});
