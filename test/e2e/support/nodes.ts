import { join } from 'node:path';
import { execa } from 'execa';
import { nodes } from '../../../deploy/local/cluster/addresses.ts';
import { createContext } from '../../../deploy/local/context.ts';

/** Runs a command in the network of a node. */
export async function onNode(node: string, command: readonly string[]): Promise<string> {
  const { stdout } = await execa('nsenter', [`--net=/run/netns/virtflow-${node}`, ...command]);
  return stdout;
}

/** Where a file below a node's /var lies on this machine. */
export const nodeVar = (node: string, path: string): string =>
  join(createContext().stateDir, 'nodes', node, 'var', path);

/** Where the directory that both nodes share (SHARED_DIRECTORY on each) lies on this machine. */
export const sharedFile = (path: string): string => join(createContext().stateDir, 'shared', path);

export const otherNode = (node: string): string => nodes.find(({ name }) => name !== node)?.name ?? '';
