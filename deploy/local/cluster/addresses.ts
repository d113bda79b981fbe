/** Addresses of the local cluster: one private network, nothing listens on the machine's other addresses. */
export const bridge = 'virtflow0';
export const clusterNetwork = '10.99.0.0/24';
/** The machine's own address on the bridge: the control plane listens here. */
export const hostAddress = '10.99.0.1';

export const podNetwork = '10.244.0.0/16';
export const serviceNetwork = '10.96.0.0/16';
/** By convention the first address of the service network is the API server's. */
export const apiServiceAddress = '10.96.0.1';
export const dnsServiceAddress = '10.96.0.10';
export const clusterDomain = 'cluster.local';

export const apiServerUrl = `https://${hostAddress}:6443`;

/** A network namespace of this machine with an address on the bridge. */
export interface HostSpec {
  readonly name: string;
  readonly address: string;
}

/**
 * Temporal's dev server has a network of its own: the parts of it find each other on the loopback address, so that it must listen on all
 * addresses of where it runs.
 */
export const temporalHost: HostSpec = { name: 'temporal', address: '10.99.0.2' };
export const temporalAddress = `${temporalHost.address}:7233`;
export const temporalUiUrl = `http://${temporalHost.address}:8233`;

/** A node: a network namespace and a mount namespace of this machine. */
export interface NodeSpec extends HostSpec {
  readonly podRange: string;
}

export const nodes: readonly NodeSpec[] = [
  { name: 'node-a', address: '10.99.0.11', podRange: '10.244.16.0/20' },
  { name: 'node-b', address: '10.99.0.12', podRange: '10.244.32.0/20' },
];
