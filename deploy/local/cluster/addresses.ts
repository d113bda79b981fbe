/** Addresses of the local cluster: one private network, nothing listens on the machine's other addresses. */
export const bridge = 'virtflow0';
export const clusterNetwork = '10.99.0.0/24';
/** The machine's own address on the bridge: the control plane and Temporal listen here. */
export const hostAddress = '10.99.0.1';

export const podNetwork = '10.244.0.0/16';
export const serviceNetwork = '10.96.0.0/16';
/** By convention the first address of the service network is the API server's. */
export const apiServiceAddress = '10.96.0.1';
export const dnsServiceAddress = '10.96.0.10';
export const clusterDomain = 'cluster.local';

export const apiServerUrl = `https://${hostAddress}:6443`;
export const temporalAddress = `${hostAddress}:7233`;
export const temporalUiUrl = `http://${hostAddress}:8233`;

/** A node: a network namespace and a mount namespace of this machine. */
export interface NodeSpec {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
}

export const nodes: readonly NodeSpec[] = [
  { name: 'node-a', address: '10.99.0.11', podRange: '10.244.16.0/20' },
  { name: 'node-b', address: '10.99.0.12', podRange: '10.244.32.0/20' },
];
