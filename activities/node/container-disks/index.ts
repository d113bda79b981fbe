import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { hasGate } from '../../../api/cluster-config/index.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { HostFacts } from '../../../api/launcher/host-facts.ts';
import { diskContainer, imageVolumeDirectory } from '../../../api/launcher/paths.ts';
import { COMPUTE } from '../../facts/labels.ts';
import { errorCode } from '../files/error-code.ts';
import { createFileIn, descriptorPath, openDirectoryIn, openFileIn } from '../files/open-in-root.ts';
import { podVolume } from '../launcher-client/sockets.ts';
import type { Container } from '../pods/container.ts';
import type { NodePorts } from '../ports.ts';
import type { Beating } from '../progress.ts';
import { together } from '../together.ts';
import type { ImageContent } from './content.ts';
import { formatOf, openImageContent } from './content.ts';
import type { ImageFile } from './images.ts';
import { imageFiles } from './images.ts';

type Ports = Pick<NodePorts, 'pods' | 'images' | 'mounts'>;
type Formats = NonNullable<HostFacts['backingFormats']>;

/** Where images are wanted. */
export interface Wanted {
  vmi: VirtualMachineInstance;
  pod: Pod;
  config: ClusterConfig;
  /** Waits for a container of the Pod until the signal. Whoever has it opened closes it. */
  opening: (cancelled: AbortSignal) => Open;
}

type Open = (container: string) => Promise<Container>;

/**
 * Makes every image file of the VMI visible to its launcher, read-only, and answers the disks' formats by volume. Safe to repeat under a running guest.
 * @throws ImageContent naming field, image and path
 */
export const provideImages = async (
  ports: Ports,
  { vmi, pod, config, opening }: Wanted,
  { report, cancelled }: Beating,
): Promise<Formats> => {
  const provide = hasGate(config, 'ImageVolume') ? linkImageVolume : mountCopy;
  const provided = await together(cancelled, (until) =>
    imageFiles(vmi).map(async (file): Promise<Formats> => {
      report(`image ${file.image}`);
      const { format } = await provide(ports, { pod, open: opening(until) }, file, (bytes) =>
        report(`image ${file.image}: ${Math.round(bytes / 1024 / 1024)} MiB copied`),
      );
      return format === undefined ? {} : { [file.volume]: format };
    }),
  );
  return Object.assign({}, ...provided) as Formats;
};

/** Unmounts what `provideImages` mounted for a Pod. Call only once nothing of the Pod uses it. Nothing mounted: does nothing. */
export const releaseImages = async (
  { pods, mounts }: Pick<NodePorts, 'pods' | 'mounts'>,
  podUid: string,
): Promise<void> => {
  for (const { target } of await mounts.below(podVolume(pods, podUid, 'containerDisks'))) await mounts.unmount(target);
};

/** Evicts copies that no Pod uses any more. */
export const evictImages = async ({
  pods,
  mounts,
  images,
}: Pick<NodePorts, 'pods' | 'mounts' | 'images'>): Promise<string[]> => {
  // What a mount shows ends in the cache's relative path, wherever on its file system the cache lies.
  const inUse = (await mounts.below(pods)).map(({ root }) => root.split('/').slice(-2).join('/'));
  return images.evict(new Set(inUse));
};

type Provided = Pick<ImageContent, 'format'>;

/** Without the ImageVolume gate a container of the Pod holds the image; a copy of the file is mounted, which outlives the container. */
const mountCopy = async (
  { pods, images, mounts }: Ports,
  { pod, open }: { pod: Pod; open: Open },
  wanted: ImageFile,
  progress: (bytes: number) => void,
): Promise<Provided> => {
  const directory = podVolume(pods, pod.metadata?.uid ?? '', 'containerDisks');
  const target = join(directory, wanted.target);
  if ((await mounts.below(directory)).some((mount) => mount.target === target)) {
    return formatOfMounted(directory, wanted);
  }
  const container = await open(diskContainer(wanted.volume));
  try {
    const { path, file, format } = await openImageContent(container.root, wanted);
    try {
      const cached = await images.ensure(path, file, progress);
      await mountFile(mounts, directory, wanted.target, cached);
      return { ...(format && { format }) };
    } finally {
      await file.close();
    }
  } finally {
    await container.close();
  }
};

const formatOfMounted = async (directory: string, wanted: ImageFile): Promise<Provided> => {
  const file = await openFileIn(directory, wanted.target);
  try {
    return await formatOf(file, wanted.target, wanted);
  } finally {
    await file.close();
  }
};

const mountFile = async (
  mounts: NodePorts['mounts'],
  directory: string,
  name: string,
  cached: string,
): Promise<void> => {
  const place = await openDirectoryIn(directory, '/');
  try {
    const target = await createFileIn(place, name, 0o444).catch((error: unknown) => {
      if (errorCode(error) === 'EEXIST') return openFileIn(directory, name);
      throw error;
    });
    try {
      await mounts.bindCached(cached, target);
    } finally {
      await target.close();
    }
  } finally {
    await place.close();
  }
};

/** With the gate the kubelet has mounted the image into `compute`: a link leads there from where the launcher looks. */
const linkImageVolume = async (
  { pods }: Ports,
  { pod, open }: { pod: Pod; open: Open },
  wanted: ImageFile,
): Promise<Provided> => {
  const container = await open(COMPUTE);
  const inside = imageVolumeDirectory(wanted.volume);
  const image = await openDirectoryIn(container.root, inside).finally(() => container.close());
  try {
    const { path, file, format } = await openImageContent(descriptorPath(image), wanted);
    await file.close();
    const place = await openDirectoryIn(podVolume(pods, pod.metadata?.uid ?? '', 'containerDisks'), '/');
    try {
      await symlink(join(inside, path), `${descriptorPath(place)}/${wanted.target}`).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      });
    } finally {
      await place.close();
    }
    return { ...(format && { format }) };
  } finally {
    await image.close();
  }
};
