import { expect, test } from '@jest/globals';
import { bootRules } from '../../../../api/validation/boot.ts';
import { configured } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const KERNEL = 'spec.domain.firmware.kernelBoot';
const image = 'r.test/kernel:1';
const kernel = (kernelBoot: object): object => ({ firmware: { kernelBoot } });
const boot = (bootloader: object, more: object = {}): object => ({ firmware: { bootloader }, ...more });

test.each<[string, object, string[]]>([
  ['kernel and initrd', kernel({ kernelArgs: 'quiet', container: { image, kernelPath: '/k', initrdPath: '/i' } }), []],
  ['arguments alone', kernel({ kernelArgs: 'quiet' }), [`Invalid ${KERNEL}.kernelArgs`]],
  ['no image', kernel({ container: { kernelPath: '/k' } }), [`Required ${KERNEL}.container.image`]],
  ['no file', kernel({ container: { image } }), [`Required ${KERNEL}.container`]],
  ['a relative path', kernel({ container: { image, kernelPath: 'k' } }), [`Invalid ${KERNEL}.container.kernelPath`]],
  ['bios and efi', boot({ bios: {}, efi: { secureBoot: false } }), ['Invalid spec.domain.firmware.bootloader']],
  ['Secure Boot', boot({ efi: {} }, { features: { smm: {} } }), []],
  ['Secure Boot without SMM', boot({ efi: {} }), ['Invalid spec.domain']],
  ['Secure Boot with SMM off', boot({ efi: {} }, { features: { smm: { enabled: false } } }), ['Invalid spec.domain']],
  ['EFI without Secure Boot', boot({ efi: { secureBoot: false } }), []],
  ['TDX, whose firmware needs no SMM', boot({ efi: {} }, { launchSecurity: { tdx: {} } }), []],
  ['tables without a volume named', { firmware: { acpi: {} } }, ['Invalid spec.acpi']],
  ['a table of no volume', { firmware: { acpi: { msdmNameRef: 'x' } } }, ['Invalid spec.acpi.msdmNameRef']],
  [
    'a table of a volume that is no Secret',
    { firmware: { acpi: { slicNameRef: 'map' } } },
    ['Invalid spec.acpi.slicNameRef'],
  ],
  ['a table of a Secret', { firmware: { acpi: { slicNameRef: 'keys' } } }, []],
])('%s', (_, domain, expected) => {
  const volumes = [
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'map', configMap: { name: 'map' } },
  ];
  expect(ofDomain(bootRules, domain, { volumes })).toEqual(expected);
});

test.each<[string, string, object, boolean]>([
  ['pc-q35-9.0', 'amd64', {}, true],
  ['isapc', 'amd64', {}, false],
  ['q35', 'arm64', {}, false],
  ['virt-8.2', 'arm64', {}, true],
  ['s390-ccw-virtio-9.0', 's390x', {}, true],
  ['q35', 'amd64', { architectureConfiguration: { amd64: { emulatedMachines: ['pc-q35-rhel?'] } } }, false],
  ['pc-q35-rhel9', 'amd64', { architectureConfiguration: { amd64: { emulatedMachines: ['pc-q35-rhel?'] } } }, true],
  ['pc', 'arm64', { emulatedMachines: ['pc'] }, true],
])('machine %s on %s of %j: %s', (type, architecture, configuration, isOffered) => {
  expect(ofDomain(bootRules, { machine: { type } }, { architecture }, configured(configuration))).toEqual(
    isOffered ? [] : ['Invalid spec.domain.machine.type'],
  );
});
