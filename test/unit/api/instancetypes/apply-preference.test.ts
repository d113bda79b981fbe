import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { preferAtCreation, withTypes } from '../../../../api/instancetypes/index.ts';
import type { PreferenceSpec } from '../../../../api/instancetypes/index.ts';
import { preference, vm } from './samples.ts';

const preferring = (preferred: object, template: object = {}, metadata: object = {}) =>
  withTypes(vm(template, metadata), { preference: preference(preferred) }).applied?.spec.template;
const devices = (preferred: object, own: object = {}, rest: object = {}) =>
  preferring({ devices: preferred }, { ...rest, domain: { devices: own } })?.spec?.domain.devices;

test.each([
  ['preferredAutoattachGraphicsDevice', 'autoattachGraphicsDevice'],
  ['preferredAutoattachMemBalloon', 'autoattachMemBalloon'],
  ['preferredAutoattachPodInterface', 'autoattachPodInterface'],
  ['preferredAutoattachSerialConsole', 'autoattachSerialConsole'],
  ['preferredAutoattachInputDevice', 'autoattachInputDevice'],
  ['preferredUseVirtioTransitional', 'useVirtioTransitional'],
  ['preferredBlockMultiQueue', 'blockMultiQueue'],
  ['preferredNetworkInterfaceMultiQueue', 'networkInterfaceMultiqueue'],
  ['preferredDisableHotplug', 'disableHotplug'],
])('%s fills %s, and leaves a word of the VM alone', (preferred, field) => {
  expect(devices({ [preferred]: true })).toMatchObject({ [field]: true });
  expect(devices({ [preferred]: true }, { [field]: false })).toMatchObject({ [field]: false });
});

test.each([
  ['random numbers', { preferredRng: {} }, {}, { rng: {} }],
  ['a TPM', { preferredTPM: { persistent: true } }, {}, { tpm: { persistent: true } }],
  ['a TPM of the VM', { preferredTPM: { persistent: true } }, { tpm: {} }, { tpm: {} }],
  ['a video device', { preferredVideoType: 'virtio' }, {}, { video: { type: 'virtio' } }],
  [
    'the model of a sound card that is there',
    { preferredSoundModel: 'ac97' },
    { sound: { name: 's' } },
    { sound: { name: 's', model: 'ac97' } },
  ],
  ['no sound card', { preferredSoundModel: 'ac97' }, {}, {}],
  ['a panic device', { preferredPanicDeviceModel: 'hyperv' }, {}, { panicDevices: [{ model: 'hyperv' }] }],
  [
    'models of panic devices',
    { preferredPanicDeviceModel: 'hyperv' },
    { panicDevices: [{ model: 'isa' }, {}] },
    { panicDevices: [{ model: 'isa' }, { model: 'hyperv' }] },
  ],
  [
    'inputs',
    { preferredInputBus: 'usb', preferredInputType: 'tablet' },
    { inputs: [{ name: 'i' }] },
    { inputs: [{ name: 'i', bus: 'usb', type: 'tablet' }] },
  ],
])('of devices: %s', (_, preferred, own, expected) => {
  expect(devices(preferred, own)).toEqual(expected);
});

const DISKS = {
  preferredDiskBus: 'virtio',
  preferredCdromBus: 'sata',
  preferredLunBus: 'scsi',
  preferredDiskCache: 'none',
  preferredDiskIO: 'native',
  preferredDiskDedicatedIoThread: true,
  preferredDiskBlockSize: { matchVolume: {} },
};
const LIKE_ALL = { cache: 'none', io: 'native', blockSize: { matchVolume: {} } };

test.each([
  [{ name: 'a' }, { name: 'a', disk: { bus: 'virtio' }, ...LIKE_ALL, dedicatedIOThread: true }],
  [
    { name: 'a', disk: { bus: 'sata' } },
    { name: 'a', disk: { bus: 'sata' }, ...LIKE_ALL },
  ],
  [
    { name: 'a', cdrom: {} },
    { name: 'a', cdrom: { bus: 'sata' } },
  ],
  [
    { name: 'a', lun: {} },
    { name: 'a', lun: { bus: 'scsi' } },
  ],
  [
    { name: 'a', disk: {}, cache: 'writeback', io: 'threads', dedicatedIOThread: false, blockSize: {} },
    { name: 'a', disk: { bus: 'virtio' }, cache: 'writeback', io: 'threads', dedicatedIOThread: false, blockSize: {} },
  ],
])('disk %j', (disk, expected) => {
  expect(devices(DISKS, { disks: [disk] })?.disks).toEqual([expected]);
});

test.each([
  [{ name: 'n' }, { pod: {} }, { name: 'n', model: 'e1000e', masquerade: {} }],
  [{ name: 'n', bridge: {} }, { pod: {} }, { name: 'n', model: 'e1000e', bridge: {} }],
  [
    { name: 'n', model: 'virtio', binding: { name: 'x' } },
    { pod: {} },
    { name: 'n', model: 'virtio', binding: { name: 'x' } },
  ],
  [{ name: 'n' }, { multus: { networkName: 'x' } }, { name: 'n', model: 'e1000e' }],
])('interface %j on %j', (nic, network, expected) => {
  const wanted = { preferredInterfaceModel: 'e1000e', preferredInterfaceMasquerade: {} };
  expect(devices(wanted, { interfaces: [nic] }, { networks: [{ name: 'n', ...network }] })?.interfaces).toEqual([
    expected,
  ]);
});

test.each([
  ['BIOS', { preferredUseBios: true, preferredUseBiosSerial: true }, {}, { bios: { useSerial: true } }],
  ['EFI', { preferredEfi: { secureBoot: false } }, {}, { efi: { secureBoot: false } }],
  ['EFI in older words', { preferredUseEfi: true, preferredUseSecureBoot: true }, {}, { efi: { secureBoot: true } }],
  ['EFI rather than its older words', { preferredEfi: {}, preferredUseSecureBoot: true }, {}, { efi: {} }],
  [
    'the BIOS of the VM',
    { preferredEfi: {}, preferredUseBiosSerial: true },
    { bios: {} },
    { bios: { useSerial: true } },
  ],
  [
    'the EFI of the VM',
    { preferredUseBios: true, preferredUseSecureBoot: true },
    { efi: { persistent: true } },
    { efi: { persistent: true, secureBoot: true } },
  ],
])('firmware: %s', (_, firmware, bootloader, expected) => {
  const own = Object.keys(bootloader).length === 0 ? {} : { firmware: { uuid: 'u', bootloader } };
  expect(preferring({ firmware }, { domain: { devices: {}, ...own } })?.spec?.domain.firmware?.bootloader).toEqual(
    expected,
  );
});

test.each([
  ['utc', { clock: { utc: {} } }, { utc: {}, timer: { hpet: { present: false } } }],
  ['a timer', { clock: { timer: { pit: {} } } }, { timezone: 'Europe/Paris', timer: { pit: {} } }],
  ['nothing', {}, { timezone: 'Europe/Paris', timer: { hpet: { present: false } } }],
])('the clock of a VM that says %s', (_, own, expected) => {
  const clock = { preferredClockOffset: { timezone: 'Europe/Paris' }, preferredTimer: { hpet: { present: false } } };
  expect(preferring({ clock }, { domain: { devices: {}, ...own } })?.spec?.domain.clock).toEqual(expected);
});

test('features that the VM says nothing of, one by one', () => {
  const features = {
    preferredAcpi: { enabled: false },
    preferredApic: {},
    preferredKvm: { hidden: true },
    preferredSmm: {},
    preferredHyperv: { relaxed: {}, vapic: { enabled: true } },
  };
  const own = { smm: { enabled: false }, hyperv: { vapic: { enabled: false } } };
  expect(preferring({ features }, { domain: { devices: {}, features: own } })?.spec?.domain.features).toEqual({
    acpi: { enabled: false },
    apic: {},
    kvm: { hidden: true },
    smm: { enabled: false },
    hyperv: { relaxed: {}, vapic: { enabled: false } },
  });
});

test('what does not belong to a device', () => {
  const preferred = {
    annotations: { a: 'theirs', b: 'theirs' },
    cpu: { preferredCPUFeatures: [{ name: 'vmx', policy: 'require' }, { name: 'avx' }] },
    machine: { preferredMachineType: 'pc-q35-8.0' },
    preferredSubdomain: 'vms',
    preferredTerminationGracePeriodSeconds: 180,
    preferredArchitecture: 'arm64',
    preferredLaunchSecurity: { tdx: {} },
  };
  const template = { domain: { devices: {}, cpu: { features: [{ name: 'vmx', policy: 'disable' }] } } };
  expect(preferring(preferred, template, { annotations: { a: 'own' } })).toMatchObject({
    metadata: { annotations: { a: 'own', b: 'theirs' } },
    spec: {
      subdomain: 'vms',
      terminationGracePeriodSeconds: 180,
      architecture: 'arm64',
      domain: {
        machine: { type: 'pc-q35-8.0' },
        launchSecurity: { tdx: {} },
        cpu: { features: [{ name: 'vmx', policy: 'disable' }, { name: 'avx' }] },
      },
    },
  });
});

test('architecture, machine and storage classes are settled when the VM is stored', () => {
  const preferred = preference({
    preferredArchitecture: 'arm64',
    machine: { preferredMachineType: 'virt' },
    volumes: { preferredStorageClassName: 'fast' },
  });
  const templates = [{ spec: { storage: {} } }, { spec: { pvc: { storageClassName: 'own' } } }];
  expect(preferAtCreation(vm({}, {}, { dataVolumeTemplates: templates }), preferred).spec).toMatchObject({
    template: { spec: { architecture: 'arm64', domain: { machine: { type: 'virt' } } } },
    dataVolumeTemplates: [
      { spec: { storage: { storageClassName: 'fast' } } },
      { spec: { pvc: { storageClassName: 'own' } } },
    ],
  });
});

/** Every value at the end of a path, except in lists of devices, which grow fields. */
const leaves = (value: unknown, path = ''): [string, unknown][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`))
    : [[path, value]];

test('what a VM says stays, whatever is preferred', () => {
  const flag = fc.boolean();
  const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });
  const preferred = some({
    preferredSubdomain: fc.constantFrom('theirs'),
    preferredTerminationGracePeriodSeconds: fc.nat(9),
    machine: some({ preferredMachineType: fc.constantFrom('q35', 'pc') }),
    features: some({
      preferredAcpi: some({ enabled: flag }),
      preferredHyperv: some({ vapic: some({ enabled: flag }) }),
    }),
    firmware: some({
      preferredUseBios: flag,
      preferredUseEfi: flag,
      preferredEfi: some({ secureBoot: flag }),
      preferredUseSecureBoot: flag,
    }),
    clock: some({ preferredClockOffset: fc.constantFrom({ timezone: 'a' }, { utc: {} }) }),
    devices: some({
      preferredDiskBus: fc.constantFrom('sata'),
      preferredDiskCache: fc.constantFrom('none'),
      preferredDisableHotplug: flag,
      preferredInterfaceModel: fc.constantFrom('e1000'),
    }),
  }) as fc.Arbitrary<PreferenceSpec>;
  const own = some({
    subdomain: fc.constantFrom('mine'),
    terminationGracePeriodSeconds: fc.nat(9),
  });
  const domain = some({
    machine: some({ type: fc.constantFrom('pc-q35-7') }),
    features: some({ acpi: some({ enabled: flag }), hyperv: some({ vapic: some({ enabled: flag }) }) }),
    firmware: some({ bootloader: some({ efi: some({ secureBoot: flag }) }) }),
    clock: some({ timezone: fc.constantFrom('mine') }),
    devices: some({
      disableHotplug: flag,
      disks: fc.array(some({ disk: some({ bus: fc.constantFrom('virtio') }), cache: fc.constantFrom('writeback') })),
      interfaces: fc.array(some({ model: fc.constantFrom('virtio') })),
    }),
  });
  fc.assert(
    fc.property(preferred, own, domain, (wanted, rest, ofDomain) => {
      const template = { ...rest, domain: { devices: {}, ...ofDomain } };
      const result = new Map(leaves(withTypes(vm(template), { preference: wanted }).applied?.spec.template.spec));
      for (const [path, value] of leaves(template)) expect([path, result.get(path)]).toEqual([path, value]);
    }),
  );
});
