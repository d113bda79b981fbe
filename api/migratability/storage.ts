import { keepsEfi, keepsTpm } from '../kubevirt/persistent-state.ts';
import type { Disk, VirtualMachineInstance, Volume } from '../kubevirt/types.ts';
import type { MigratabilityFacts, Obstacle, Rule } from './obstacle.ts';

/** Every disk is shared by both Pods, or can be copied. */
export const volumes: Rule = ({ spec }, facts) =>
  (spec.volumes ?? []).flatMap((volume): Obstacle[] => {
    const obstacle = obstacleOf(volume, facts);
    return obstacle === undefined ? [] : [{ reason: 'DisksNotLiveMigratable', message: obstacle }];
  });

const obstacleOf = (volume: Volume, { claims }: MigratabilityFacts): string | undefined => {
  const claim = claimOf(volume);
  if (claim !== undefined) {
    const modes = claims[claim];
    if (modes === undefined)
      return `volume ${volume.name}: claim ${claim} cannot be read, so nothing says that it is shared`;
    if (modes.includes('ReadWriteMany')) return undefined;
    return `volume ${volume.name}: claim ${claim} has access mode ${modes.join(', ')}, a migration needs ReadWriteMany`;
  }
  if (volume.hostDisk === undefined || volume.hostDisk.shared === true) return undefined;
  return `volume ${volume.name}: a hostDisk stays on its node; set shared if every node has the same file under this path`;
};

/** Both Pods write to it (a claim below an overlay is only read, and the overlay is copied). */
const claimOf = ({ persistentVolumeClaim, dataVolume }: Volume): string | undefined =>
  persistentVolumeClaim?.claimName ?? dataVolume?.name;

/** What is plugged into a running guest comes in a Pod of its own, which the target does not have. */
export const hotplug: Rule = ({ spec, status }) => {
  const plugged = new Set(
    (status?.volumeStatus ?? []).flatMap(({ name, hotplugVolume }) => (hotplugVolume ? [name] : [])),
  );
  const names = (spec.volumes ?? []).flatMap((volume) => {
    const { name, persistentVolumeClaim, dataVolume } = volume;
    return persistentVolumeClaim?.hotpluggable || dataVolume?.hotpluggable || plugged.has(name) ? [name] : [];
  });
  if (names.length === 0) return [];
  return [{ reason: 'HotplugNotLiveMigratable', message: `plugged volumes do not move: ${names.join(', ')}` }];
};

/** One Pod has it at a time: nothing hands it over yet. */
export const keptState: Rule = (vmi) => [
  ...(keepsTpm(vmi) ? [stays('spec.domain.devices.tpm.persistent')] : []),
  ...(keepsEfi(vmi) ? [stays('spec.domain.firmware.bootloader.efi.persistent')] : []),
];

const stays = (field: string): Obstacle => ({
  reason: 'DisksNotLiveMigratable',
  message: `${field}: state that outlives the Pod does not move yet`,
});

export const filesystems: Rule = ({ spec }) => {
  const names = (spec.domain.devices.filesystems ?? []).map(({ name }) => name);
  if (names.length === 0) return [];
  return [{ reason: 'VirtIOFSNotLiveMigratable', message: `file systems do not move: ${names.join(', ')}` }];
};

export const reservations: Rule = ({ spec }) => {
  const names = (spec.domain.devices.disks ?? []).flatMap(({ name, lun }) => (lun?.reservation ? [name] : []));
  if (names.length === 0) return [];
  const message = `SCSI reservations are bound to the node: ${names.join(', ')}`;
  return [{ reason: 'PersistentReservationNotLiveMigratable', message }];
};

const isReadOnly = ({ disk, cdrom, lun }: Disk): boolean =>
  cdrom === undefined ? disk?.readonly === true || lun?.readonly === true : cdrom.readonly !== false;

/** Whether some disk is written to and not shared, so that its content is copied with the memory. */
export const copiesDisks = ({ spec }: VirtualMachineInstance): boolean => {
  const readOnly = new Set((spec.domain.devices.disks ?? []).filter(isReadOnly).map(({ name }) => name));
  return (spec.volumes ?? []).some(
    (volume) => claimOf(volume) === undefined && volume.hostDisk === undefined && !readOnly.has(volume.name),
  );
};
