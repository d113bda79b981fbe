import type { Disk as DiskSpec } from '../../api/kubevirt/types.ts';
import { busOf } from './disk-bus.ts';
import { ConversionError } from './errors.ts';

const PREFIXES: Record<string, string> = { virtio: 'vd', sata: 'sd', scsi: 'sd', usb: 'sd' };

export interface DeviceName {
  name: string;
  /** Position under its prefix; the unit on a SCSI controller. */
  index: number;
}

/** "vda", "vdb", … "vdz", "vdaa": as Linux counts disks. */
export function deviceName(prefix: string, index: number): string {
  const letter = String.fromCharCode('a'.charCodeAt(0) + (index % 26));
  return index < 26 ? prefix + letter : deviceName(prefix, Math.floor(index / 26) - 1) + letter;
}

/** The inverse of deviceName. */
function deviceIndex(prefix: string, name: string): number {
  const letters = name.slice(prefix.length);
  return [...letters].reduce((index, letter) => (index + 1) * 26 + letter.charCodeAt(0) - 'a'.charCodeAt(0), -1);
}

/** @throws ConversionError for a bus that no disk can sit on */
function prefixOf(disk: DiskSpec): string {
  const prefix = PREFIXES[busOf(disk)];
  if (prefix === undefined)
    throw new ConversionError(
      `spec.domain.devices.disks[${disk.name}].bus`,
      `"${busOf(disk)}" is not one of ${Object.keys(PREFIXES).join(', ')}`,
    );
  return prefix;
}

/**
 * Names of all disks by disk name. A disk keeps the name that the guest already knows it by (`known`, from status.volumeStatus); the others get
 * the first free ones in the order of the spec. @throws ConversionError
 */
export function deviceNames(disks: DiskSpec[], known: Record<string, string>): Map<string, DeviceName> {
  const kept = disks.flatMap((disk) => known[disk.name] ?? []);
  const taken = new Set(kept);
  return new Map(
    disks.map((disk) => {
      const prefix = prefixOf(disk);
      const name = known[disk.name] || firstFree(prefix, taken);
      taken.add(name);
      return [disk.name, { name, index: deviceIndex(prefix, name) }];
    }),
  );
}

function firstFree(prefix: string, taken: Set<string>): string {
  let index = 0;
  while (taken.has(deviceName(prefix, index))) index++;
  return deviceName(prefix, index);
}
