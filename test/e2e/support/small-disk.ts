import { execa } from 'execa';
import { nodes } from '../../../deploy/local/cluster/addresses.ts';
import { enterNode } from '../../../deploy/local/cluster/node-files.ts';
import { SHARED_DIRECTORY } from './vms.ts';

const onEachNode = async (...command: string[]): Promise<void> => {
  for (const node of nodes) {
    const [enter = '', ...rest] = enterNode(node);
    await execa(enter, [...rest, 'sh', '-ec', command.join(' ')]);
  }
};

/**
 * Puts a file system of its own, and of this size, in the place of a directory that both nodes share: it fills up. Each node has another one.
 * To be called before a Pod has it mounted.
 */
export async function limitSpace(directory: string, size: string): Promise<void> {
  const path = `${SHARED_DIRECTORY}/${directory}`;
  await freeSpace(directory);
  await onEachNode(`mkdir -p ${path} && mount -t tmpfs -o size=${size},mode=0777 small ${path}`);
}

/** Fills such a file system up, on each node, but for so many bytes. */
export async function takeSpace(directory: string, leave: number): Promise<void> {
  const path = `${SHARED_DIRECTORY}/${directory}`;
  const free = `$(df --output=avail -B1 ${path} | tail -1)`;
  await onEachNode(`fallocate -l $((${free} - ${leave})) ${path}/ballast`);
}

/** Takes `limitSpace` back; does nothing if there is none. */
export async function freeSpace(directory: string): Promise<void> {
  const path = `${SHARED_DIRECTORY}/${directory}`;
  await onEachNode(`if mountpoint -q ${path}; then umount -l ${path}; fi`);
}
