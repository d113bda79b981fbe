import { expect, test } from '@jest/globals';
import { INITRD_IMAGE, KERNEL_IMAGE, secretDirectory } from '../../../../../api/launcher/paths.ts';
import { firmware } from '../../../../../launcher/converter/concerns/firmware.ts';
import { host, vmi } from '../examples.ts';

const osOf = (spec: object, rest: object = {}) => firmware(vmi({ domain: { firmware: spec }, spec: rest }), host()).os;

test.each`
  architecture | machine         | arch         | becomes
  ${'amd64'}   | ${undefined}    | ${'x86_64'}  | ${'q35'}
  ${'amd64'}   | ${'pc-q35-7.2'} | ${'x86_64'}  | ${'pc-q35-7.2'}
  ${'arm64'}   | ${''}           | ${'aarch64'} | ${'virt'}
  ${'s390x'}   | ${undefined}    | ${'s390x'}   | ${'s390-ccw-virtio'}
`('$architecture, machine $machine: $arch $becomes', ({ architecture, machine, arch, becomes }) => {
  const instance = vmi({
    domain: { machine: { type: machine as string } },
    spec: { architecture: architecture as string },
  });
  expect(firmware(instance, host()).os?.type).toEqual({ '@arch': arch, '@machine': becomes, '#text': 'hvm' });
});

test('an architecture that nobody knows is refused', () => {
  expect(() => firmware(vmi({ spec: { architecture: 'vax' } }), host())).toThrow(/spec\.architecture: "vax"/);
});

test.each`
  efi                      | secure   | variables
  ${{}}                    | ${'yes'} | ${/ms\.fd$/}
  ${{ secureBoot: true }}  | ${'yes'} | ${/ms\.fd$/}
  ${{ secureBoot: false }} | ${'no'}  | ${/VARS_4M\.fd$/}
`('EFI $efi: secure loader $secure', ({ efi, secure, variables }) => {
  const os = osOf({ bootloader: { efi: efi as object } });
  expect(os?.loader?.['@secure']).toBe(secure);
  expect(os?.nvram?.['@template']).toMatch(variables as RegExp);
});

test.each`
  kernelBoot                                                                                | becomes
  ${{ container: { image: 'i', kernelPath: '/k', initrdPath: '/i' }, kernelArgs: 'quiet' }} | ${{ kernel: KERNEL_IMAGE, initrd: INITRD_IMAGE, cmdline: 'quiet' }}
  ${{ container: { image: 'i', initrdPath: '/i' } }}                                        | ${{ initrd: INITRD_IMAGE }}
  ${{ kernelArgs: 'quiet' }}                                                                | ${{ cmdline: 'quiet' }}
`('kernel boot $kernelBoot', ({ kernelBoot, becomes }) => {
  expect(osOf({ kernelBoot: kernelBoot as object })).toMatchObject(becomes as object);
});

test('ACPI tables come from secrets', () => {
  const volumes = [
    { name: 'licence', secret: { secretName: 'x' } },
    { name: 'scratch', emptyDisk: { capacity: '1Mi' } },
  ];
  expect(osOf({ acpi: { slicNameRef: 'licence' } }, { volumes })?.acpi?.table).toEqual([
    { '@type': 'slic', '#text': `${secretDirectory('licence')}/slic.bin` },
  ]);
  expect(() => osOf({ acpi: { msdmNameRef: 'scratch' } }, { volumes })).toThrow(/msdmNameRef: "scratch"/);
});

test('a VMI that starts paused leaves time for the boot menu', () => {
  expect(osOf({}, { startStrategy: 'Paused' })?.bootmenu).toEqual({ '@enable': 'yes', '@timeout': 10000 });
  expect(osOf({})?.bootmenu).toBeUndefined();
});

test('the BIOS speaks on the serial port when asked to', () => {
  expect(osOf({ bootloader: { bios: { useSerial: true } } })?.bios).toEqual({ '@useserial': 'yes' });
  expect(osOf({ bootloader: { bios: { useSerial: false } } })?.bios).toBeUndefined();
});

test('variables that outlive the Pod lie in the claim for them', () => {
  const nvramOf = (efi: object) => firmware(vmi({ domain: { firmware: { bootloader: { efi } } } }), host()).os?.nvram;
  expect(nvramOf({})?.['#text']).toBe('/var/run/libvirt/nvram.fd');
  expect(nvramOf({ persistent: true })?.['#text']).toBe('/var/run/kubevirt-private/vm-state/nvram/finch_VARS.fd');
});
