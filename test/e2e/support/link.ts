import { execa } from 'execa';
import { apiServerUrl, hostAddress, temporalAddress, temporalHost } from '../../../deploy/local/cluster/addresses.ts';
import { networkNamespaceFile } from '../../../deploy/local/cluster/network.ts';

/** Port on which node workers listen for each other. */
export const MIGRATION_PORT = 9810;

/** Tables of their own in the node's network namespace: beside those of kube-proxy. */
const LINK = 'virtflow-fault';
const CONTROL = 'virtflow-fault-control';

/** `drop`: the other side hears nothing any more. `reject`: it hears at once that there is nobody. */
export type Cut = 'drop' | 'reject';

const nft = async (node: string, rules: string): Promise<void> => {
  const enter = ['nsenter', `--net=${networkNamespaceFile({ name: node, address: '' })}`];
  await execa(enter[0] ?? '', [...enter.slice(1), 'nft', '-f', '-'], { input: rules });
};

const addTable = (node: string, table: string, hooks: readonly string[], rules: readonly string[]): Promise<void> => {
  const chains = hooks.map((hook) =>
    [`chain ${hook} {`, `type filter hook ${hook} priority filter - 5;`, ...rules, '}'].join('\n'),
  );
  return nft(node, `table inet ${table} {\n${chains.join('\n')}\n}\n`);
};

/** Does nothing if it is not there. */
const removeTable = (node: string, table: string): Promise<void> =>
  nft(node, `table inet ${table}\ndelete table inet ${table}\n`);

/** Cuts what node workers have between them, on one node and both ways: connections that stand and new ones. */
export const cutLink = (node: string, how: Cut): Promise<void> => {
  const verdict = how === 'drop' ? 'drop' : 'reject with tcp reset';
  const rules = [`tcp dport ${MIGRATION_PORT} ${verdict}`, `tcp sport ${MIGRATION_PORT} ${verdict}`];
  return addTable(node, LINK, ['input', 'output'], rules);
};

/** Takes `cutLink` back; does nothing if it was not cut. */
export const healLink = (node: string): Promise<void> => removeTable(node, LINK);

/** Nothing that a node or its Pods say reaches the API server or Temporal any more, nor the other way round. */
export const disconnect = (node: string): Promise<void> => {
  const ports = [new URL(apiServerUrl).port, temporalAddress.split(':')[1]].join(', ');
  // By who answers, so that it holds for what goes by a Service's address, too.
  const ofConnections = `meta l4proto tcp ct reply ip saddr { ${hostAddress}, ${temporalHost.address} } ct reply proto-src { ${ports} } drop`;
  return addTable(node, CONTROL, ['input', 'output', 'forward'], [ofConnections]);
};

/** Takes `disconnect` back; does nothing if it was not cut. */
export const reconnect = (node: string): Promise<void> => removeTable(node, CONTROL);
