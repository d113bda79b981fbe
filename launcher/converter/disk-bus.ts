import type { Disk as DiskSpec } from '../../api/kubevirt/types.ts';

/** Bus of a disk, LUN or CD-ROM; without one it is SATA, which every guest can read. */
export const busOf = (disk: DiskSpec): string => (disk.lun ?? disk.disk ?? disk.cdrom)?.bus || 'sata';
