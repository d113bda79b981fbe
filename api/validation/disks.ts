import type { Disk, VirtualMachineInstanceSpec, Volume } from '../kubevirt/types.ts';
import { hasGate } from '../cluster-config/index.ts';
import { blockSizeCauses } from './block-size.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, oneOf, repeated, required, unsupported, when } from './cause.ts';
import { isLabel, isPciAddress } from './formats.ts';

const DISKS = 'spec.domain.devices.disks';
const BUSES = ['virtio', 'scsi', 'sata', 'usb'];
const SERIAL_MAX = 256;
const KINDS = ['disk', 'lun', 'cdrom'] as const;

/** Disks stand for volumes, one kind of device each. A volume without a disk gets one as a default. */
export const diskRules: Rule = ({ spec }, config) => {
  const { disks = [] } = spec.domain.devices;
  const emptyDrives = hasGate(config, 'DeclarativeHotplugVolumes');
  return [
    ...repeated(disks).map((index) =>
      invalid(`${DISKS}[${index}].name`, `"${disks[index]?.name}" is the name of an earlier disk: names are unique`),
    ),
    ...disks.flatMap((disk, index) => {
      const volume = (spec.volumes ?? []).find(({ name }) => name === disk.name);
      return [...itsVolume(disk, `${DISKS}[${index}]`, volume, emptyDrives), ...oneDisk(disk, `${DISKS}[${index}]`)];
    }),
    ...bootOrders(spec),
  ];
};

const itsVolume = (disk: Disk, field: string, volume: Volume | undefined, emptyDrives: boolean): Cause[] => {
  if (volume === undefined) {
    return when(disk.cdrom === undefined || !emptyDrives, () =>
      invalid(
        `${field}.name`,
        disk.cdrom === undefined
          ? `no volume is named "${disk.name}": add it to spec.volumes, or correct the name`
          : 'a drive without a medium needs the feature gate DeclarativeHotplugVolumes: add a volume of that name',
      ),
    );
  }
  const bus = disk.disk?.bus ?? '';
  return [
    ...when(disk.lun !== undefined && (volume.persistentVolumeClaim ?? volume.dataVolume) === undefined, () =>
      invalid(`${field}.lun`, 'a LUN is a persistentVolumeClaim or a dataVolume: make it a disk'),
    ),
    ...when(volume.downwardMetrics !== undefined && disk.disk === undefined, () =>
      required(`${field}.disk`, 'metrics come by a plain disk: set disk: {bus: virtio}'),
    ),
    ...when(volume.downwardMetrics !== undefined && bus !== '' && bus !== 'virtio', () =>
      invalid(`${field}.disk.bus`, `metrics come by the bus virtio, not ${bus}`),
    ),
  ];
};

const oneDisk = (disk: Disk, field: string): Cause[] => {
  const { bootOrder, cache, errorPolicy, io, name, serial = '' } = disk;
  return [
    ...when(KINDS.filter((kind) => disk[kind] !== undefined).length > 1, () =>
      invalid(field, 'it is disk, cdrom or lun: keep one of them'),
    ),
    ...pciAddress(disk, field),
    ...when(bootOrder !== undefined && bootOrder < 1, () => invalid(`${field}.bootOrder`, 'the order starts at 1')),
    ...bus(disk, field),
    ...when(serial !== '' && !/^[A-Za-z0-9_.+-]+$/.test(serial), () =>
      invalid(`${field}.serial`, 'use letters, digits and _ . + -'),
    ),
    ...when([...serial].length > SERIAL_MAX, () => invalid(`${field}.serial`, `at most ${SERIAL_MAX} characters`)),
    ...oneOf(`${field}.cache`, cache, ['', 'none', 'writethrough', 'writeback']),
    ...oneOf(`${field}.io`, io, ['', 'native', 'threads'], unsupported),
    ...oneOf(`${field}.errorPolicy`, errorPolicy, ['stop', 'ignore', 'report', 'enospace']),
    ...when(!isLabel(name), () =>
      invalid(`${field}.name`, `"${name}" is no name: use at most 63 lower-case letters, digits and hyphens`),
    ),
    ...blockSizeCauses(disk, field),
  ];
};

const pciAddress = ({ disk }: Disk, field: string): Cause[] => {
  const { bus: on, pciAddress: address = '' } = disk ?? {};
  if (address === '') return [];
  return [
    ...when(on !== 'virtio', () => invalid(`${field}.disk.pciAddress`, 'only disks on the bus virtio have one')),
    ...when(!isPciAddress(address), () =>
      invalid(`${field}.disk.pciAddress`, `"${address}" is no address like 0000:81:01.0`),
    ),
  ];
};

const bus = (disk: Disk, field: string): Cause[] => {
  const kind = KINDS.find((given) => disk[given] !== undefined);
  const on = kind === undefined ? '' : (disk[kind]?.bus ?? '');
  if (kind === undefined || on === '') return [];
  return [
    ...oneOf(`${field}.${kind}.bus`, on, BUSES),
    ...when(kind === 'cdrom' && on === 'virtio', () =>
      invalid(`${field}.cdrom.bus`, 'a CD-ROM drive cannot be on the bus virtio: use sata'),
    ),
    ...when(on === 'sata' && disk.disk?.readonly === true, () =>
      invalid(`${field}.disk.bus`, 'a disk on the bus sata cannot be read-only: use virtio, or a cdrom'),
    ),
    ...when(disk.dedicatedIOThread === true && on !== 'virtio', () =>
      unsupported(field, `a disk on the bus ${on} cannot have its own IO thread: use virtio`),
    ),
  ];
};

/** The order is over disks and interfaces. */
const bootOrders = ({ domain }: VirtualMachineInstanceSpec): Cause[] => {
  const { disks = [], interfaces = [] } = domain.devices;
  const devices = [
    ...disks.map(({ bootOrder }, index) => ({ bootOrder, field: `${DISKS}[${index}]` })),
    ...interfaces.map(({ bootOrder }, index) => ({ bootOrder, field: `spec.domain.devices.interfaces[${index}]` })),
  ];
  return devices.flatMap(({ bootOrder, field }, index) => {
    if (bootOrder === undefined) return [];
    const taken = devices.findIndex((device) => device.bootOrder === bootOrder) < index;
    return [
      ...when(bootOrder < 1 && index >= disks.length, () => invalid(`${field}.bootOrder`, 'the order starts at 1')),
      ...when(taken, () => invalid(`${field}.bootOrder`, `${bootOrder} is the order of an earlier device`)),
    ];
  });
};
