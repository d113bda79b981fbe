import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import type { ContainerStatus, Pod } from '../../../api/kubernetes/types.ts';
import { undefinedIfGone } from '../files/error-code.ts';
import { sharedDescriptorPath } from '../files/open-in-root.ts';
import type { NodePorts } from '../ports.ts';

/** A running container as its first process sees it. The handle stays on the same container whatever becomes of the process. */
export interface Container {
  pid: number;
  /** Path of its root directory. Content is not trusted: read it with `openFileIn`. */
  root: string;
  close(): Promise<void>;
}

/** Runtime's status of a container of the Pod, also of one that runs beside as an init container. */
export const containerStatus = (pod: Pod, name: string): ContainerStatus | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(
    (status) => status.name === name,
  );

/** What the API server fills in where a container does not say. */
const DEFAULT_TERMINATION_LOG = '/dev/termination-log';

/**
 * Opens a container of the Pod; undefined: none of its processes is there yet, or it was not seen. Known by the file that the kubelet made for it and mounted
 * into it, for its last words: that is there before the first process is, while the API server hears of a container up to seconds later.
 */
export const openContainer = async (
  { pods, processes }: Pick<NodePorts, 'pods' | 'processes'>,
  pod: Pod,
  name: string,
): Promise<Container | undefined> => {
  const uid = pod.metadata?.uid ?? '';
  const files = await identitiesIn(`${pods}/${uid}/containers/${name}`);
  if (files.length === 0) return undefined;
  const isOurs = async (pid: number): Promise<boolean> =>
    files.includes((await identityOf(`/proc/${pid}/root${terminationLog(pod, name)}`)) ?? '');
  for (const { pid } of await processes.seenOfPod(uid)) {
    if (!(await isOurs(pid))) continue;
    const container = await openProcess(pid).catch(undefinedIfGone);
    // Once all is open it is certain whose it is: the pid may have been given to another process in between.
    if (container === undefined || (await isOurs(pid))) return container;
    await container.close();
  }
  return undefined;
};

const terminationLog = ({ spec }: Pod, name: string): string =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name)
    ?.terminationMessagePath ?? DEFAULT_TERMINATION_LOG;

/** One for each time that the container was started. */
const identitiesIn = async (directory: string): Promise<string[]> => {
  const names = (await readdir(directory).catch(undefinedIfGone)) ?? [];
  const found = await Promise.all(names.map((name) => identityOf(`${directory}/${name}`)));
  return found.filter((identity) => identity !== undefined);
};

/** Names a file of this node, wherever it is mounted. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const file = await lstat(path, { bigint: true }).catch(undefinedIfGone);
  return file?.isFile() ? `${file.dev}:${file.ino}` : undefined;
};

const openProcess = async (pid: number): Promise<Container> => {
  const root = await open(`/proc/${pid}/root`, constants.O_RDONLY | constants.O_DIRECTORY);
  return { pid, root: sharedDescriptorPath(root), close: () => root.close() };
};
