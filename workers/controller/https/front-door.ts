import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { Check } from '../../shared/health.ts';
import type { Logger } from '../../shared/logging.ts';
import { ownCredentials } from '../certificates/credentials.ts';
import type { Durations } from '../certificates/rotation.ts';
import type { ClientAuthorities, HttpsHandlers } from './server.ts';
import { serveHttps } from './server.ts';
import { API_SERVICE, publishTrust } from './trust.ts';

export interface FrontDoorOptions {
  rest: Rest;
  kube: Pick<KubePort, 'get' | 'replace'>;
  /** Namespace of virtflow: the Service is there. */
  namespace: string;
  port: number;
  durations: Durations;
  mounts: Record<string, HttpsHandlers>;
  clientCas?: ClientAuthorities;
  log: Logger;
  signal: AbortSignal;
}

export interface FrontDoor {
  /** Ok once it serves, with a certificate that the API server was told to trust. */
  check: () => Check;
  /** Settles after the signal, when the last connection is closed. Rejects when it cannot listen. */
  closed: Promise<void>;
}

/**
 * What users reach of virtflow by way of the API server: admission webhooks and the aggregated API. It needs neither a leader nor Temporal; every replica
 * has a certificate of its own and looks after what the API server must know of it.
 */
export const openFrontDoor = (options: FrontDoorOptions): FrontDoor => {
  const { rest, namespace, log, signal } = options;
  const host = `${API_SERVICE}.${namespace}.svc`;
  const credentials = ownCredentials({
    ...options,
    clock: Date.now,
    subject: {
      commonName: host,
      alternativeNames: [host, `${host}.cluster.local`].map((value) => ({ type: 'dns', value })),
      usages: ['server auth'],
    },
    onTrust: (ca) => publishTrust(rest, namespace, ca),
  });
  let port: number | undefined;
  const run = async (): Promise<void> => {
    await Promise.race([credentials.ready, credentials.done]);
    if (signal.aborted) return;
    const server = await serveHttps({ ...options, credentials, log });
    port = server.port;
    await Promise.all([server.closed, credentials.done]);
  };
  return {
    check: () => ({
      ok: port !== undefined && credentials.current() !== undefined,
      detail: port === undefined ? `not open: ${credentials.detail()}` : `port ${port}, ${credentials.detail()}`,
    }),
    closed: run(),
  };
};
