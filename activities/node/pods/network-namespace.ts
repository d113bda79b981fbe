import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { undefinedIfGone } from '../files/error-code.ts';
import { sharedDescriptorPath } from '../files/open-in-root.ts';
import type { ProcessTable } from './processes.ts';

/** A Pod's network namespace; stays the same whatever becomes of the Pod's processes. */
export interface PodNetworkNamespace {
  /** Path that stands for it. */
  path: string;
  /** Tells it from others that are there at the same time. */
  id: string;
  close(): Promise<void>;
}

/**
 * Opens the Pod's network namespace, which its sandbox has before any container is started: that of the oldest process that has another one than the
 * node. (The first process of a sandbox is in the Pod's control group before it has left the node's namespaces.) Undefined: there is none yet.
 */
export const openNetwork = async (
  processes: Pick<ProcessTable, 'seenOfPod'>,
  podUid: string,
): Promise<PodNetworkNamespace | undefined> => {
  const node = await networkIdOf('self');
  for (const { pid } of await processes.seenOfPod(podUid)) {
    const file = await open(fileOf(pid), constants.O_RDONLY).catch(undefinedIfGone);
    if (file === undefined) continue;
    const id = idOf(await file.stat({ bigint: true }));
    if (id !== node) return { path: sharedDescriptorPath(file), id, close: () => file.close() };
    await file.close();
  }
  return undefined;
};

/** Network namespace in which a process runs. */
export const networkIdOf = async (pid: number | 'self'): Promise<string> =>
  idOf(await stat(fileOf(pid), { bigint: true }));

const fileOf = (pid: number | 'self'): string => `/proc/${pid}/ns/net`;

const idOf = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`;
