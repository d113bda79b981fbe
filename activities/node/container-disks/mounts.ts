import type { FileHandle } from 'node:fs/promises';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunCommand } from '../commands.ts';
import { sharedDescriptorPath } from '../files/open-in-root.ts';

/** A mount point of this worker's mount namespace. */
export interface MountPoint {
  /** Where it is. */
  target: string;
  /** What of its file system is shown there. */
  root: string;
}

/** Bind mounts of cached images into Pods. They outlive the worker: its directory of Pods is shared with the host's mounts. */
export interface Mounts {
  below(directory: string): Promise<MountPoint[]>;
  /** Mounts a file of the cache read-only over an open file. */
  bindCached(relative: string, target: FileHandle): Promise<void>;
  /** Detaches at once, whoever still has files open there. */
  unmount(target: string): Promise<void>;
}

export interface MountOptions {
  run: RunCommand;
  /** The image cache. */
  cache: string;
  /** Where this worker keeps its read-only view of it: any empty place of its own. */
  view: string;
}

/**
 * Every bind is made from a read-only view of the cache: a bind inherits its source's flags, and so do the copies that propagate into Pods, while
 * "remount read-only" of a bind would stay in this mount namespace alone.
 */
export const mountsOver = ({ run, cache, view }: MountOptions): Mounts => {
  const table = async (): Promise<MountPoint[]> => parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));

  const makeView = async (): Promise<void> => {
    if ((await table()).some(({ target }) => target === view)) return;
    await mkdir(cache, { recursive: true });
    await mkdir(view, { recursive: true });
    await run('mount', ['--bind', cache, view]);
    await run('mount', ['-o', 'remount,bind,ro,nosuid,nodev,noexec', view]);
  };

  let making: Promise<void> | undefined;
  const ensureView = (): Promise<void> => {
    // Once at a time, and again after a failure.
    making ??= makeView().finally(() => (making = undefined));
    return making;
  };

  return {
    below: async (directory) => (await table()).filter(({ target }) => target.startsWith(`${directory}/`)),
    async bindCached(relative, target) {
      await ensureView();
      // Not canonicalised: the target is the open file itself, whatever its path leads to by now.
      await run('mount', ['--no-canonicalize', '--bind', join(view, relative), sharedDescriptorPath(target)]);
    },
    unmount: async (target) => void (await run('umount', ['--no-canonicalize', '--lazy', target])),
  };
};

/** /proc/<pid>/mountinfo: fields 4 and 5 are root and mount point, blanks and backslashes in octal (proc_pid_mountinfo(5)). */
export const parseMountInfo = (text: string): MountPoint[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, , , root = '', target = ''] = line.split(' ');
      return { root: unescape(root), target: unescape(target) };
    });

const unescape = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
