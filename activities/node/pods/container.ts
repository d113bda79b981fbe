import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readFile } from 'node:fs/promises';
import type { ContainerStatus, Pod } from '../../../api/kubernetes/types.ts';
import { failure } from '../../failures.ts';
import { sharedDescriptorPath } from '../files/open-in-root.ts';
import { bareContainerId, isInContainer } from './cgroup.ts';
import type { ProcessTable } from './processes.ts';

/** A running container as its first process sees it. The handles stay on the same container whatever becomes of the process. */
export interface Container {
  pid: number;
  /** Path of its root directory. Content is not trusted: read it with `openFileIn`. */
  root: string;
  /** Path that stands for its network namespace. */
  network: string;
  close(): Promise<void>;
}

/** Runtime's status of a container of the Pod, also of one that runs beside as an init container. */
export const containerStatus = (pod: Pod, name: string): ContainerStatus | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(
    (status) => status.name === name,
  );

/** @throws PodFailed when the container has ended; Error (retryable) when it does not run yet */
export const openContainer = async (processes: ProcessTable, pod: Pod, name: string): Promise<Container> => {
  const named = `container ${name} of Pod ${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
  const status = containerStatus(pod, name);
  const ended = status?.state?.terminated;
  if (ended) throw failure('PodFailed', `${named} has ended: ${ended.message ?? ended.reason ?? ''}`);
  const id = bareContainerId(status?.containerID);
  if (id === undefined) throw new Error(`${named} does not run yet`);
  const [first] = (await processes.ofPod(pod.metadata?.uid ?? '')).filter(({ cgroup }) => isInContainer(cgroup, id));
  if (first === undefined) {
    throw new Error(`${named} has no process on this node: does the node worker run in the host's PID namespace?`);
  }
  return openProcess(first.pid, id, named);
};

const openProcess = async (pid: number, containerId: string, named: string): Promise<Container> => {
  const handles: FileHandle[] = [];
  const close = async (): Promise<void> => void (await Promise.all(handles.map((handle) => handle.close())));
  try {
    const root = await open(`/proc/${pid}/root`, constants.O_RDONLY | constants.O_DIRECTORY);
    handles.push(root);
    const network = await open(`/proc/${pid}/ns/net`, constants.O_RDONLY);
    handles.push(network);
    // Once both are open it is certain whose they are: the pid may have been given to another process in between.
    if (!isInContainer(await readFile(`/proc/${pid}/cgroup`, 'utf8'), containerId)) {
      throw new Error(`${named}: its process ${pid} has ended`);
    }
    return { pid, root: sharedDescriptorPath(root), network: sharedDescriptorPath(network), close };
  } catch (error) {
    await close();
    throw error;
  }
};
