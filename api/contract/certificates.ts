/**
 * Names in the certificates by which workers of virtflow know each other (mutual TLS). The controller's leader signs them; keys stay where they
 * were made. See docs/adr/0013-certificates.md.
 */

/** Signer of node workers' certificates, as CertificateSigningRequests name it. */
export const NODE_SIGNER = 'virtflow.io/node-worker';

/** Secret with the certificate authorities and their keys, in virtflow's own namespace: for the controller alone. */
export const AUTHORITY_SECRET = 'virtflow-ca';

/** ConfigMap with the certificates of all trusted authorities, in virtflow's own namespace. */
export const BUNDLE_CONFIG_MAP = 'virtflow-ca-bundle';
/** Its key: PEM certificates one after the other. */
export const BUNDLE_KEY = 'ca.crt';

const NODE_URI_PREFIX = 'spiffe://virtflow/node/';

/** Common name of the certificate of a node's worker. */
export const nodeCommonName = (node: string): string => `virtflow:node:${node}`;

/** The only subject alternative name in it. */
export const nodeUri = (node: string): string => `${NODE_URI_PREFIX}${node}`;

/**
 * Which node's worker a certificate speaks for, from its subject alternative names as Node's TLS gives them
 * (`socket.getPeerCertificate().subjectaltname`). Undefined: it is no node worker's. The chain must have been verified before.
 */
export const nodeOfPeer = (subjectAltName: string | undefined): string | undefined => {
  const prefix = `URI:${NODE_URI_PREFIX}`;
  const node = subjectAltName?.startsWith(prefix) ? subjectAltName.slice(prefix.length) : '';
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(node) ? node : undefined;
};

/** Common name and only subject alternative name of a controller's certificate: with it, and no other, a node worker lets somebody reach its guests. */
export const CONTROLLER_COMMON_NAME = 'virtflow:controller';
export const CONTROLLER_URI = 'spiffe://virtflow/controller';

/** Whether a certificate speaks for the controller; as of `nodeOfPeer`. */
export const isController = (subjectAltName: string | undefined): boolean => subjectAltName === `URI:${CONTROLLER_URI}`;

/** What a worker shows to its peers and whom it believes; PEM. */
export interface TlsCredentials {
  cert: string;
  /** PKCS #8; never to be logged. */
  key: string;
  /** Certificates of all trusted authorities. */
  ca: string;
}

/** A worker's certificate as it is renewed over time. */
export interface PeerCredentials {
  /** Undefined while there is no valid certificate: then no peer may be spoken to. */
  current(): TlsCredentials | undefined;
  /** Told of every new certificate and of every change of the trusted authorities. Connections that stand are not affected. */
  onChange(listener: () => void): void;
  /** Resolves with the first valid certificate; never rejects. */
  ready: Promise<void>;
  /** Until when the certificate is valid, or why there is none: for health and for messages of failures (PeerUnreachable). */
  detail(): string;
}
