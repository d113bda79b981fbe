import { expect, test } from '@jest/globals';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { host, withDisks } from './examples.ts';

const annotated = { metadata: { annotations: { 'kubevirt.io/placePCIDevicesOnRootComplex': 'true' } } };
const disk = (name: string, rest: object = {}) => ({ name, disk: { bus: 'virtio', ...rest } });

test('PCI devices get the free slots of the root bus in turn; others and placed ones stay', () => {
  const { devices } = toDomain(
    withDisks(
      [disk('a'), disk('b', { pciAddress: '0000:05:00.0' }), { name: 'c', disk: { bus: 'sata' } }],
      undefined,
      annotated,
    ),
    host(),
  );
  const slots = [...(devices.controller ?? []), ...(devices.disk ?? []), devices.memballoon].map((device) =>
    device?.address && '@slot' in device.address ? `${device.address['@bus']}:${device.address['@slot']}` : 'none',
  );
  expect(slots).toEqual(['0x00:0x02', '0x00:0x03', '0x00:0x04', '0x00:0x05', '0x05:0x00', 'none', '0x00:0x06']);
});

test('slots of the machine itself are skipped, and a full bus is refused', () => {
  const many = (count: number) =>
    withDisks(
      Array.from({ length: count }, (_, n) => disk(`d${n}`)),
      undefined,
      annotated,
    );
  const slots = toDomain(many(24), host()).devices.disk?.map(
    ({ address }) => address && '@slot' in address && address['@slot'],
  );
  expect(slots).not.toContain('0x1b');
  expect(slots).toHaveLength(24);
  expect(() => toDomain(many(30), host())).toThrow(/no slot left/);
});
