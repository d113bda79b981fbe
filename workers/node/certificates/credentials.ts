import type { KubePort } from '../../../activities/kube/port.ts';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { Logger } from '../../shared/logging.ts';

export interface CredentialsOptions {
  node: string;
  kube: Pick<KubePort, 'get' | 'create'>;
  /** Namespace of virtflow. */
  namespace: string;
  /** Where key and certificate are kept over a restart of the worker (0600), on the node. */
  directory: string;
  log: Logger;
  signal: AbortSignal;
}

/** The certificate of this node's worker: obtained, kept, renewed until the signal. Being written: this is its interface. */
export const nodeCredentials = (_options: CredentialsOptions): PeerCredentials & { done: Promise<void> } => ({
  current: () => undefined,
  onChange: () => undefined,
  ready: new Promise(() => undefined),
  detail: () => 'no certificate yet',
  done: Promise.resolve(),
});
