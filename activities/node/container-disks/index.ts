import type { FileHandle } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { hasGate } from '../../../api/cluster-config/index.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import { errorCode } from '../files/error-code.ts';
import { createFileIn, descriptorPath, openDirectoryIn, openFileIn, PathError } from '../files/open-in-root.ts';
import { podVolume } from '../launcher-client/sockets.ts';
import { containerStatus, openContainer } from '../pods/container.ts';
import type { NodePorts } from '../ports.ts';
import { HEADER_BYTES, inspectImage } from './image-format.ts';
import type { ImageFile } from './images.ts';
import { DEFAULT_DISK_DIRECTORY, imageFiles } from './images.ts';

type Ports = Pick<NodePorts, 'pods' | 'processes' | 'images' | 'mounts'>;

/**
 * Makes every image file of the VMI visible to its launcher, read-only. With the ImageVolume gate the kubelet mounts images itself.
 * @throws ImageContent naming field, image and path
 */
export const provideImages = async (
  ports: Ports,
  { vmi, pod, config }: { vmi: VirtualMachineInstance; pod: Pod; config: ClusterConfig },
  progress: (detail: string) => void,
): Promise<void> => {
  const files = hasGate(config, 'ImageVolume') ? [] : imageFiles(vmi);
  if (files.length === 0) return;
  const directory = podVolume(ports.pods, pod.metadata?.uid ?? '', 'containerDisks');
  const mounted = new Set((await ports.mounts.below(directory)).map(({ target }) => target));
  for (const file of files) {
    if (mounted.has(join(directory, file.target))) continue;
    progress(`image ${file.image}`);
    const cached = await cacheFile(ports, pod, file, (bytes) =>
      progress(`image ${file.image}: ${Math.round(bytes / 1024 / 1024)} MiB copied`),
    );
    await mountFile(ports, directory, file.target, cached);
  }
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

const cacheFile = async (
  { processes, images }: Ports,
  pod: Pod,
  file: ImageFile,
  progress: (bytes: number) => void,
): Promise<string> => {
  const container = await openContainer(processes, pod, file.container);
  try {
    const path = file.path ?? (await onlyFileIn(container.root, file));
    const source = await openImage(container.root, path, file);
    try {
      const status = containerStatus(pod, file.container);
      return await images.ensure({ imageId: status?.imageID || (status?.containerID ?? ''), path }, source, progress);
    } finally {
      await source.close();
    }
  } finally {
    await container.close();
  }
};

const openImage = async (root: string, path: string, file: ImageFile): Promise<FileHandle> => {
  const source = await openFileIn(root, path).catch((error: unknown) => {
    throw error instanceof PathError ? contentError(file, `${error.message} in it`) : error;
  });
  if (file.kind === 'boot') return source;
  const header = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await source.read(header, 0, HEADER_BYTES, 0);
  const verdict = bytesRead === 0 ? { refused: 'it is empty' } : inspectImage(header.subarray(0, bytesRead));
  if (!('refused' in verdict)) return source;
  await source.close();
  throw contentError(file, `${path} cannot be used as a disk: ${verdict.refused}`);
};

const onlyFileIn = async (root: string, file: ImageFile): Promise<string> => {
  const directory = await openDirectoryIn(root, DEFAULT_DISK_DIRECTORY).catch((error: unknown) => {
    throw error instanceof PathError
      ? contentError(file, `it has no directory ${DEFAULT_DISK_DIRECTORY}: put the disk there, or set path`)
      : error;
  });
  try {
    const [only, ...more] = await readdir(descriptorPath(directory));
    if (only !== undefined && more.length === 0) return `${DEFAULT_DISK_DIRECTORY}/${only}`;
    throw contentError(
      file,
      `${DEFAULT_DISK_DIRECTORY} holds ${more.length === 0 ? 'no file' : 'more than one file'}: set path`,
    );
  } finally {
    await directory.close();
  }
};

const contentError = ({ field, image }: ImageFile, why: string): Error =>
  failure('ImageContent', `${field}: image ${image}: ${why}`);

const mountFile = async ({ mounts }: Ports, directory: string, name: string, cached: string): Promise<void> => {
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
