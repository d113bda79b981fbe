import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

/**
 * Opens files below a directory whose content is not trusted (a container's root, a Pod's volume): no link leads out of it. Each component
 * is opened relative to the last one (through /proc/self/fd, Node's way to openat) and links are followed by hand, as inside a chroot.
 */

/** open(2): the handle only names the file; nothing is read, no FIFO blocks, no device is touched. Linux's value on every architecture. */
const O_PATH = 0o10000000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

/** The kernel's own limit for one path (path_resolution(7)). */
const MAX_LINKS = 40;

/** The path does not lead to a file of the wanted kind below the root. */
export class PathError extends Error {
  override readonly name = 'PathError';
  /** `missing`: nothing there; `wrongKind`: something else than asked for. */
  readonly reason: 'missing' | 'wrongKind';

  constructor(reason: 'missing' | 'wrongKind', message: string) {
    super(message);
    this.reason = reason;
  }
}

export const descriptorPath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/** The same for other processes of this PID namespace: commands that are started. */
export const sharedDescriptorPath = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`;

/** Opens a regular file for reading. The caller closes it. @throws PathError */
export const openFileIn = async (root: string, path: string): Promise<FileHandle> => {
  const place = await resolveIn(root, path);
  try {
    const stat = await place.stat();
    if (!stat.isFile()) throw new PathError('wrongKind', `${path} is not a regular file`);
    return await open(descriptorPath(place), O_RDONLY | O_NONBLOCK);
  } finally {
    await place.close();
  }
};

/** Opens a directory; the handle serves as root for the other functions (`descriptorPath`). The caller closes it. @throws PathError */
export const openDirectoryIn = async (root: string, path: string): Promise<FileHandle> => {
  const place = await resolveIn(root, path);
  try {
    const stat = await place.stat();
    if (!stat.isDirectory()) throw new PathError('wrongKind', `${path} is not a directory`);
    return await open(descriptorPath(place), O_RDONLY | O_DIRECTORY);
  } finally {
    await place.close();
  }
};

/** Names a socket: to connect to it, or to change its owner, by `descriptorPath`. The caller closes it. @throws PathError */
export const openSocketIn = async (root: string, path: string): Promise<FileHandle> => {
  const place = await resolveIn(root, path);
  try {
    if (!(await place.stat()).isSocket()) throw new PathError('wrongKind', `${path} is not a socket`);
    return place;
  } catch (error) {
    await place.close();
    throw error;
  }
};

/** Creates a file in an open directory; whatever stands there under the name, a link too, is refused with EEXIST. */
export const createFileIn = (directory: FileHandle, name: string, mode: number): Promise<FileHandle> =>
  open(`${descriptorPath(directory)}/${checkedName(name)}`, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

const checkedName = (name: string): string => {
  if (name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw new PathError('wrongKind', `"${name}" is not a file name`);
  }
  return name;
};

/** Walks the path; the result is an O_PATH handle. */
const resolveIn = async (root: string, path: string): Promise<FileHandle> => {
  const trail: FileHandle[] = [await open(root, O_PATH | O_DIRECTORY)];
  let links = 0;
  try {
    const todo = components(path);
    for (let name = todo.shift(); name !== undefined; name = todo.shift()) {
      if (name === '..') {
        if (trail.length > 1) await trail.pop()?.close();
        continue;
      }
      const at = `${descriptorPath(last(trail))}/${name}`;
      const next = await openPlace(at, path);
      const stat = await next.stat();
      if (!stat.isSymbolicLink()) {
        trail.push(next);
        continue;
      }
      await next.close();
      if (++links > MAX_LINKS) throw new PathError('wrongKind', `${path} leads through too many symbolic links`);
      const target = await readlink(at);
      todo.unshift(...components(target));
      if (target.startsWith('/')) await Promise.all(trail.splice(1).map((handle) => handle.close()));
    }
    const found = last(trail);
    trail.pop();
    return found;
  } finally {
    await Promise.all(trail.map((handle) => handle.close()));
  }
};

const openPlace = async (at: string, path: string): Promise<FileHandle> => {
  try {
    return await open(at, O_PATH | O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
      throw new PathError('missing', `${path} does not exist`);
    throw error;
  }
};

const components = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

const last = (trail: FileHandle[]): FileHandle => {
  const handle = trail.at(-1);
  if (handle === undefined) throw new Error('the trail holds its root');
  return handle;
};
