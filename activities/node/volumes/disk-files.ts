import { posix } from 'node:path';
import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { PersistentVolumeClaim } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { hostDiskDirectory, volumeDirectory } from '../../../api/launcher/paths.ts';
import { claimName } from './claims.ts';

/** An image file that must exist in the launcher's file system and belong to the launcher. */
export interface DiskFile {
  volume: string;
  /** Field of the VMI, for messages. */
  field: string;
  /** In the launcher's container. */
  directory: string;
  file: string;
  /** Size of a new, empty image; absent: the file must be there. */
  createBytes?: number;
}

/** Name of a claim's image (KubeVirt's). */
const CLAIM_IMAGE = 'disk.img';

/** Disk images on claims in filesystem mode and on host directories. Claims in block mode have none. */
export const diskFiles = (vmi: VirtualMachineInstance, claims: Record<string, PersistentVolumeClaim>): DiskFile[] =>
  (vmi.spec.volumes ?? []).flatMap((volume, index): DiskFile[] => {
    const { name, hostDisk } = volume;
    if (hostDisk !== undefined) {
      return [
        {
          volume: name,
          field: `spec.volumes[${index}].hostDisk`,
          directory: hostDiskDirectory(name),
          file: posix.basename(hostDisk.path),
          ...(hostDisk.type === 'DiskOrCreate' ? { createBytes: quantityValue(String(hostDisk.capacity ?? '0')) } : {}),
        },
      ];
    }
    const claim = claims[name];
    if (claimName(volume) === undefined || claim === undefined || claim.spec?.volumeMode === 'Block') return [];
    const capacity = claim.status?.capacity?.['storage'] ?? claim.spec?.resources?.requests?.['storage'];
    return [
      {
        volume: name,
        field: `spec.volumes[${index}]`,
        directory: volumeDirectory(name),
        file: CLAIM_IMAGE,
        ...(capacity === undefined ? {} : { createBytes: quantityValue(String(capacity)) }),
      },
    ];
  });
