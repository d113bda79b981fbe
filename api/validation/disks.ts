import type { Disk } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, repeated, when } from './cause.ts';

const BUSES = ['virtio', 'scsi', 'sata', 'usb'];

/** Disks stand for volumes, one kind of device each. A volume without a disk gets one as a default. */
export const diskRules: Rule = ({ spec }) => {
  const { disks = [], interfaces = [] } = spec.domain.devices;
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  return [
    ...repeated(disks).map((index) =>
      invalid(
        `spec.domain.devices.disks[${index}].name`,
        `"${disks[index]?.name}" is the name of an earlier disk: names are unique`,
      ),
    ),
    ...disks.flatMap((disk, index) => [...oneDisk(disk, `spec.domain.devices.disks[${index}]`, volumes)]),
    ...bootOrders([
      ...disks.map(({ bootOrder }, index) => ({ bootOrder, field: `spec.domain.devices.disks[${index}]` })),
      ...interfaces.map(({ bootOrder }, index) => ({ bootOrder, field: `spec.domain.devices.interfaces[${index}]` })),
    ]),
  ];
};

const oneDisk = (disk: Disk, field: string, volumes: ReadonlySet<string>): Cause[] => {
  const devices = [disk.disk, disk.cdrom, disk.lun].filter((device) => device !== undefined);
  const emptyDrive = disk.cdrom !== undefined;
  return [
    ...when(!volumes.has(disk.name) && !emptyDrive, () =>
      invalid(`${field}.name`, `no volume is named "${disk.name}": add it to spec.volumes, or correct the name`),
    ),
    ...when(devices.length > 1, () => invalid(field, 'it is disk, cdrom or lun: keep one of them')),
    ...buses(disk, field),
  ];
};

const buses = ({ disk, cdrom, lun }: Disk, field: string): Cause[] => {
  const wrong = (kind: string, bus: string | undefined): Cause[] =>
    when(bus !== undefined && !BUSES.includes(bus), () =>
      invalid(`${field}.${kind}.bus`, `"${bus}" is unknown: use ${BUSES.join(', ')}`),
    );
  return [...wrong('disk', disk?.bus), ...wrong('cdrom', cdrom?.bus), ...wrong('lun', lun?.bus)];
};

const bootOrders = (devices: { bootOrder: number | undefined; field: string }[]): Cause[] =>
  devices.flatMap(({ bootOrder, field }, index) => {
    if (bootOrder === undefined) return [];
    const taken = devices.findIndex((device) => device.bootOrder === bootOrder) < index;
    return [
      ...when(bootOrder < 1, () => invalid(`${field}.bootOrder`, 'the order starts at 1')),
      ...when(taken, () => invalid(`${field}.bootOrder`, `${bootOrder} is the order of an earlier device`)),
    ];
  });
