import { hasGate } from '../../../api/cluster-config/index.ts';
import { KERNEL_BOOT_CONTAINER, diskContainer, imageVolumeDirectory } from '../../../api/launcher/paths.ts';
import type { Container } from '../../../api/kubernetes/types.ts';
import type { LaunchInput } from './input.ts';
import { readOnly } from './mounted.ts';
import type { Mounted } from './mounted.ts';
import { helperSecurity } from './security.ts';
import { imageResources } from './support-resources.ts';
import { kernelBootImage } from './traits.ts';

/** A user's image: of a containerDisk or of kernelBoot. */
interface UserImage {
  container: string;
  /** Name as volume of the Pod. */
  volume: string;
  image: string;
  pullPolicy?: string;
  pullSecret?: string;
}

const KERNEL_BOOT_VOLUME = 'kernel-boot-volume';
const TOOLS_VOLUME = 'virt-bin-share-dir';
const TOOLS_DIRECTORY = '/virtflow-bin';
/** In the launcher's image: linked statically, so that it runs in any image. */
const BUSYBOX = '/usr/lib/virtflow/busybox';

/** Does nothing until it is told to stop, and then ends at once. */
const WAIT = `trap 'exit 0' TERM INT; while :; do ${TOOLS_DIRECTORY}/busybox sleep 86400 & wait $!; done`;

const userImages = ({ vmi }: LaunchInput): UserImage[] => {
  const kernel = kernelBootImage(vmi);
  return [
    ...(vmi.spec.volumes ?? []).flatMap(({ name, containerDisk: disk }) =>
      disk === undefined ? [] : [userImage(diskContainer(name), name, disk)],
    ),
    ...(kernel === undefined ? [] : [userImage(KERNEL_BOOT_CONTAINER, KERNEL_BOOT_VOLUME, kernel)]),
  ];
};

const userImage = (
  container: string,
  volume: string,
  { image, imagePullPolicy, imagePullSecret }: { image: string; imagePullPolicy?: string; imagePullSecret?: string },
): UserImage => ({
  container,
  volume,
  image,
  ...(imagePullPolicy ? { pullPolicy: imagePullPolicy } : {}),
  ...(imagePullSecret ? { pullSecret: imagePullSecret } : {}),
});

/** Secrets that pull the user's images and the launcher's, each once. */
export const imagePullSecrets = (input: LaunchInput): { name: string }[] => {
  const names = [...userImages(input).map(({ pullSecret }) => pullSecret), input.imagePullSecret];
  return [...new Set(names)].flatMap((name) => (name ? [{ name }] : []));
};

/** With the ImageVolume gate the images are mounted into `compute`. */
export const imageVolumes = (input: LaunchInput): Mounted[] =>
  hasGate(input.config, 'ImageVolume')
    ? userImages(input).map(({ volume: name, image, pullPolicy }) => ({
        volume: { name, image: { reference: image, ...(pullPolicy ? { pullPolicy } : {}) } },
        mount: readOnly(name, imageVolumeDirectory(name)),
      }))
    : toolsVolume(input);

/** Without the gate each image is held by a container, in whose file system the node worker finds the disk. */
export const imageContainers = (input: LaunchInput): Container[] =>
  hasGate(input.config, 'ImageVolume')
    ? []
    : userImages(input).map(({ container, image, pullPolicy }) => ({
        name: container,
        image,
        ...(pullPolicy ? { imagePullPolicy: pullPolicy } : {}),
        command: [`${TOOLS_DIRECTORY}/busybox`, 'sh', '-c', WAIT],
        volumeMounts: [readOnly(TOOLS_VOLUME, TOOLS_DIRECTORY)],
        resources: imageResources(input),
        securityContext: helperSecurity,
      }));

/**
 * `compute`, which starts first, puts a program that can wait into the volume that those containers share: the user's image need not hold any.
 * Kubernetes starts them only after the hook; an init container would hold the launcher up instead.
 */
export const shareTools = (input: LaunchInput): Pick<Container, 'lifecycle'> =>
  toolsVolume(input).length === 0
    ? {}
    : { lifecycle: { postStart: { exec: { command: [BUSYBOX, 'cp', BUSYBOX, `${TOOLS_DIRECTORY}/busybox`] } } } };

const toolsVolume = (input: LaunchInput): Mounted[] =>
  hasGate(input.config, 'ImageVolume') || userImages(input).length === 0
    ? []
    : [{ volume: { name: TOOLS_VOLUME, emptyDir: {} }, mount: { name: TOOLS_VOLUME, mountPath: TOOLS_DIRECTORY } }];
