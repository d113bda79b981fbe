import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { INITRD_IMAGE, KERNEL_BOOT_VOLUME, KERNEL_IMAGE, containerDiskImage } from '../../../api/launcher/paths.ts';

/** A file of an OCI image that the launcher needs. */
export interface ImageFile {
  /** Name of the image among the Pod's volumes; the container that holds it goes by the same name. */
  volume: string;
  image: string;
  /** Where it is in the image; absent: the only file below /disk. */
  path?: string;
  /** Name in the launcher's container-disks volume. */
  target: string;
  /** Field of the VMI that asks for it. */
  field: string;
  /** Boot files are taken as they are; disks must be an image that refers to no other file. */
  kind: 'disk' | 'boot';
}

/** Where an image keeps its disk unless the spec says otherwise. */
export const DEFAULT_DISK_DIRECTORY = '/disk';

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Every image file that the VMI's spec names, boot files first. */
export const imageFiles = (vmi: VirtualMachineInstance): ImageFile[] => [...bootFiles(vmi), ...diskFiles(vmi)];

const diskFiles = (vmi: VirtualMachineInstance): ImageFile[] =>
  (vmi.spec.volumes ?? []).flatMap(({ name, containerDisk }, index) =>
    containerDisk === undefined
      ? []
      : [
          {
            volume: name,
            image: containerDisk.image,
            ...(containerDisk.path ? { path: containerDisk.path } : {}),
            target: fileName(containerDiskImage(name)),
            field: `spec.volumes[${index}].containerDisk`,
            kind: 'disk',
          },
        ],
  );

const bootFiles = (vmi: VirtualMachineInstance): ImageFile[] => {
  const boot = vmi.spec.domain.firmware?.kernelBoot?.container;
  if (boot === undefined) return [];
  const file = (path: string | undefined, target: string, field: string): ImageFile[] =>
    path === undefined || path === ''
      ? []
      : [
          {
            volume: KERNEL_BOOT_VOLUME,
            image: boot.image,
            path,
            target: fileName(target),
            field: `spec.domain.firmware.kernelBoot.container.${field}`,
            kind: 'boot',
          },
        ];
  return [...file(boot.kernelPath, KERNEL_IMAGE, 'kernelPath'), ...file(boot.initrdPath, INITRD_IMAGE, 'initrdPath')];
};
