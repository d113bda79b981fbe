import { expect, test } from '@jest/globals';
import { controllers } from '../../../../../launcher/converter/concerns/controllers.ts';
import { devicesOf, host, withDevices } from '../examples.ts';

type DevicesSpec = Parameters<typeof withDevices>[0];

const convert = (devices: DevicesSpec, architecture = 'amd64', annotations = {}) =>
  devicesOf(controllers(withDevices(devices, { spec: { architecture }, metadata: { annotations } }), host()))
    .controller;
const models = (...args: Parameters<typeof convert>) =>
  Object.fromEntries((convert(...args) ?? []).map((controller) => [controller['@type'], controller['@model']]));

const modern = 'virtio-non-transitional';

test.each`
  devices                                                                    | becomes
  ${{}}                                                                      | ${{ usb: 'none', scsi: modern, 'virtio-serial': modern }}
  ${{ useVirtioTransitional: true }}                                         | ${{ usb: 'none', scsi: 'virtio-transitional', 'virtio-serial': 'virtio-transitional' }}
  ${{ disableHotplug: true, autoattachSerialConsole: false }}                | ${{ usb: 'none' }}
  ${{ disableHotplug: true, disks: [{ name: 'a', disk: { bus: 'scsi' } }] }} | ${{ usb: 'none', scsi: modern, 'virtio-serial': modern }}
  ${{ inputs: [{ name: 'i', type: 'tablet' }] }}                             | ${{ usb: 'qemu-xhci', scsi: modern, 'virtio-serial': modern }}
  ${{ disks: [{ name: 'a', disk: { bus: 'usb' } }] }}                        | ${{ usb: 'qemu-xhci', scsi: modern, 'virtio-serial': modern }}
  ${{ clientPassthrough: {} }}                                               | ${{ usb: 'qemu-xhci', scsi: modern, 'virtio-serial': modern }}
`('$devices', ({ devices, becomes }) => {
  expect(models(devices as DevicesSpec)).toEqual(becomes);
});

test.each`
  architecture | usb            | scsi
  ${'arm64'}   | ${'qemu-xhci'} | ${modern}
  ${'s390x'}   | ${'none'}      | ${'virtio-scsi'}
`('$architecture: USB $usb, SCSI $scsi', ({ architecture, usb, scsi }) => {
  expect(models({}, architecture as string)).toMatchObject({ usb, scsi });
});

test('the 64-bit PCI hole goes when the annotation says so', () => {
  const hole = { 'kubevirt.io/disablePCIHole64': 'True' };
  expect(convert({}, 'amd64', hole)).toContainEqual(
    expect.objectContaining({ '@model': 'pcie-root', pcihole64: { '@unit': 'KiB', '#text': 0 } }),
  );
  expect(models({}, 'arm64', hole)).not.toHaveProperty('pci');
});

test('SCSI disks with a thread of their own share the next one in turn', () => {
  const shared = (name: string) => ({ name, disk: { bus: 'virtio' } });
  const disks = [shared('a'), { name: 'b', dedicatedIOThread: true, disk: { bus: 'scsi' } }];
  const scsi = convert({ disks })?.find((controller) => controller['@type'] === 'scsi');
  expect(scsi?.driver).toEqual({ '@iothread': 1, '@queues': 1 });
});
