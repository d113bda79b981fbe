import { execa } from 'execa';
import { networkNamespaceFile } from '../../../deploy/local/cluster/network.ts';

/** Port on which node workers listen for each other. */
export const MIGRATION_PORT = 9810;

/** A table of its own in the node's network namespace: beside those of kube-proxy. */
const TABLE = 'virtflow-fault';

/** `drop`: the other side hears nothing any more. `reject`: it hears at once that there is nobody. */
export type Cut = 'drop' | 'reject';

const nft = async (node: string, rules: string): Promise<void> => {
  const enter = ['nsenter', `--net=${networkNamespaceFile({ name: node, address: '' })}`];
  await execa(enter[0] ?? '', [...enter.slice(1), 'nft', '-f', '-'], { input: rules });
};

/** Cuts what node workers have between them, on one node and both ways: connections that stand and new ones. */
export async function cutLink(node: string, how: Cut): Promise<void> {
  const verdict = how === 'drop' ? 'drop' : 'reject with tcp reset';
  const chain = (hook: string): string => `chain ${hook} {
    type filter hook ${hook} priority filter - 5;
    tcp dport ${MIGRATION_PORT} ${verdict}
    tcp sport ${MIGRATION_PORT} ${verdict}
  }`;
  await nft(node, `table inet ${TABLE} {\n${chain('input')}\n${chain('output')}\n}\n`);
}

/** Takes `cutLink` back; does nothing if it was not cut. */
export const healLink = (node: string): Promise<void> => nft(node, `table inet ${TABLE}\ndelete table inet ${TABLE}\n`);
