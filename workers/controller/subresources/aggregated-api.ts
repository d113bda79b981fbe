import { CONTROLLER_COMMON_NAME, CONTROLLER_URI } from '../../../api/contract/certificates.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Check } from '../../shared/health.ts';
import { ownCredentials } from '../certificates/credentials.ts';
import type { Durations } from '../certificates/rotation.ts';
import { guestAccess } from '../guest-access/index.ts';
import type { ClientAuthorities, HttpsHandlers } from '../https/server.ts';
import { watchFrontProxy } from './front-proxy.ts';
import { subresourceMounts } from './index.ts';
import type { SubresourcePorts } from './ports.ts';

export interface AggregatedApiOptions extends Omit<SubresourcePorts, 'guests' | 'kube'> {
  kube: Pick<KubePort, 'get' | 'list' | 'replace' | 'event'>;
  /** Namespace of virtflow. */
  namespace: string;
  durations: Durations;
  signal: AbortSignal;
}

/** What the HTTPS server needs of the aggregated API. */
export interface AggregatedApi {
  mounts: Record<string, HttpsHandlers>;
  /** By whose certificates the API server's proxy is known. */
  clientCas: ClientAuthorities;
  check: () => Check;
  /** Settles after the signal. */
  done: Promise<unknown>;
}

/** subresources.kubevirt.io with what it looks after while the process lives: whom to believe, and a certificate for the way to the guests. */
export const aggregatedApi = (options: AggregatedApiOptions): AggregatedApi => {
  const { rest, kube, log, signal } = options;
  const frontProxy = watchFrontProxy(rest, log, signal);
  const credentials = ownCredentials({
    ...options,
    clock: Date.now,
    subject: {
      commonName: CONTROLLER_COMMON_NAME,
      alternativeNames: [{ type: 'url', value: CONTROLLER_URI }],
      usages: ['client auth'],
    },
  });
  const guests = guestAccess({ kube, credentials });
  return {
    mounts: subresourceMounts({ ...options, guests, frontProxy: () => frontProxy.config() }),
    clientCas: frontProxy,
    check: () => {
      const { ok, detail } = frontProxy.check();
      return { ok, detail: `front proxy: ${detail}; to guests: ${credentials.detail()}` };
    },
    done: Promise.all([frontProxy.done, credentials.done]),
  };
};
