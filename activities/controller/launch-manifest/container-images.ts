import { hasGate } from '../../../api/cluster-config/index.ts';
import { KERNEL_BOOT_VOLUME, LAUNCHER_UID, diskContainer, imageVolumeDirectory } from '../../../api/launcher/paths.ts';
import type { Container } from '../../../api/kubernetes/types.ts';
import type { LaunchInput } from './input.ts';
import { readOnly } from './mounted.ts';
import type { Mounted } from './mounted.ts';
import { helperSecurity } from './security.ts';
import { copyResources, imageResources } from './support-resources.ts';
import { kernelBootImage } from './traits.ts';

/** A user's image: of a containerDisk or of kernelBoot. */
interface UserImage {
  /** Name as volume of the Pod. */
  volume: string;
  image: string;
  pullPolicy?: string;
  pullSecret?: string;
}

/** In the launcher's image: linked statically, so that it runs in any image. */
const BUSYBOX = '/usr/lib/virtflow/busybox';
/** Without the ImageVolume gate images' containers find it in a volume that they share. */
const TOOLS = { volume: 'virt-bin-share-dir', directory: '/virtflow-bin', busybox: '/virtflow-bin/busybox' };
/** With it in the launcher's image, which is mounted. */
const LAUNCHER_IMAGE = { volume: 'launcher-volume', directory: '/virtflow-launcher' };

const COPY = [BUSYBOX, 'cp', BUSYBOX, TOOLS.busybox];

/** Does nothing until it is told to stop, and then ends at once. */
const WAIT = `trap 'exit 0' TERM INT; while :; do ${TOOLS.busybox} sleep 86400 & wait $!; done`;

/** KubeVirt's: images that can be mounted but cannot run as containers are not resolved to their digest. */
const UNRESOLVED_ANNOTATION = 'kubevirt.io/image-volume-skip-digest-resolution';

const userImages = ({ vmi }: LaunchInput): UserImage[] => {
  const kernel = kernelBootImage(vmi);
  return [
    ...(vmi.spec.volumes ?? []).flatMap(({ name, containerDisk: disk }) =>
      disk === undefined ? [] : [userImage(name, disk)],
    ),
    ...(kernel === undefined ? [] : [userImage(KERNEL_BOOT_VOLUME, kernel)]),
  ];
};

const userImage = (
  volume: string,
  { image, imagePullPolicy, imagePullSecret }: { image: string; imagePullPolicy?: string; imagePullSecret?: string },
): UserImage => ({
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
export const imageVolumes = (input: LaunchInput): Mounted[] => {
  if (!mountsImages(input)) return toolsVolume(input);
  const { launcherImage, config } = input;
  const launcher = { reference: launcherImage, pullPolicy: config.imagePullPolicy };
  return [
    ...userImages(input).map(({ volume: name, image, pullPolicy }) => ({
      volume: { name, image: { reference: image, ...(pullPolicy ? { pullPolicy } : {}) } },
      mount: readOnly(name, imageVolumeDirectory(name)),
    })),
    ...(unresolvedImages(input).length === 0 ? [] : [{ volume: { name: LAUNCHER_IMAGE.volume, image: launcher } }]),
  ];
};

const toolsVolume = (input: LaunchInput): Mounted[] => {
  if (userImages(input).length === 0) return [];
  const { volume: name, directory: mountPath } = TOOLS;
  return [
    { volume: { name, emptyDir: {} }, ...(input.config.skipImageInitContainers && { mount: { name, mountPath } }) },
  ];
};

/** Without the gate each image is held by a container, in whose file system the node worker finds the disk. */
export const imageContainers = (input: LaunchInput): Container[] =>
  mountsImages(input)
    ? []
    : userImages(input).map((image) =>
        userContainer(input, image, {
          name: diskContainer(image.volume),
          command: [TOOLS.busybox, 'sh', '-c', WAIT],
          volumeMounts: [readOnly(TOOLS.volume, TOOLS.directory)],
        }),
      );

/**
 * A container for each image that does nothing: all images are there before `compute` starts, and with the gate its status tells the image's digest, which the
 * mounted image has none for. Without the gate one before them copies the program that image containers wait with, since the user's image need not hold any.
 */
export const imageInitContainers = (input: LaunchInput): Container[] => {
  if (mountsImages(input)) {
    const { volume, directory } = LAUNCHER_IMAGE;
    return unresolvedImages(input).map((image) =>
      userContainer(input, image, {
        name: diskContainer(image.volume),
        command: [`${directory}${BUSYBOX}`, 'true'],
        volumeMounts: [readOnly(volume, directory)],
      }),
    );
  }
  if (input.config.skipImageInitContainers) return [];
  const images = userImages(input);
  return [
    ...(images.length === 0 ? [] : [copyContainer(input)]),
    ...images.map((image) =>
      userContainer(input, image, {
        name: `${diskContainer(image.volume)}-init`,
        command: [TOOLS.busybox, 'true'],
        volumeMounts: [readOnly(TOOLS.volume, TOOLS.directory)],
      }),
    ),
  ];
};

/** Without init containers `compute` copies the program: Kubernetes starts the containers that wait with it only after the hook of this first one. */
export const shareTools = (input: LaunchInput): Pick<Container, 'lifecycle'> =>
  mountsImages(input) || !input.config.skipImageInitContainers || userImages(input).length === 0
    ? {}
    : { lifecycle: { postStart: { exec: { command: COPY } } } };

const mountsImages = ({ config }: LaunchInput): boolean => hasGate(config, 'ImageVolume');

/** Images whose digest nobody knows yet: a migration's target is given those of its source. */
const unresolvedImages = (input: LaunchInput): UserImage[] =>
  input.vmi.metadata?.annotations?.[UNRESOLVED_ANNOTATION] === 'true'
    ? []
    : userImages(input).filter(({ image }) => !(input.digestsKnown && image.includes('@sha256:')));

type Own = Pick<Container, 'name' | 'command' | 'volumeMounts'>;

const userContainer = (input: LaunchInput, { image, pullPolicy }: UserImage, own: Own): Container => ({
  ...own,
  image,
  ...(pullPolicy ? { imagePullPolicy: pullPolicy } : {}),
  resources: imageResources(input),
  securityContext: helperSecurity,
});

const copyContainer = (input: LaunchInput): Container => ({
  name: 'container-disk-binary',
  image: input.launcherImage,
  imagePullPolicy: input.config.imagePullPolicy,
  command: COPY,
  volumeMounts: [{ name: TOOLS.volume, mountPath: TOOLS.directory }],
  resources: copyResources(input),
  securityContext: { ...helperSecurity, runAsGroup: LAUNCHER_UID },
  terminationMessagePolicy: 'FallbackToLogsOnError',
});
