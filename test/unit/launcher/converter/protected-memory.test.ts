import { expect, test } from '@jest/globals';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { host, withDisks } from './examples.ts';

const disks = [
  { name: 'a', disk: { bus: 'virtio' } },
  { name: 'b', disk: { bus: 'scsi' } },
];
const domainOf = (domain: object) =>
  toDomain(
    withDisks(disks, undefined, {
      spec: { architecture: 's390x', networks: [{ name: 'n', pod: {} }] },
      domain: { ...domain, devices: { interfaces: [{ name: 'n', masquerade: {} }] } },
    }),
    host(),
  ).devices;

test('paravirtual devices of a protected guest go through an IOMMU, others do not', () => {
  const { disk, interface: nics, controller, memballoon } = domainOf({ launchSecurity: {} });
  expect(disk?.map(({ driver }) => driver['@iommu'])).toEqual(['on', undefined]);
  expect(nics?.[0]?.driver).toEqual({ '@name': 'vhost', '@iommu': 'on' });
  expect(memballoon?.driver).toEqual({ '@iommu': 'on' });
  expect(controller?.map((one) => `${one['@type']} ${one.driver?.['@iommu'] ?? 'off'}`)).toEqual([
    ...['usb off', 'scsi on', 'virtio-serial on'],
  ]);
});

test('those of any other guest do not', () => {
  expect(JSON.stringify(domainOf({}))).not.toContain('iommu');
});
