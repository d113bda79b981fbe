import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Logger } from '../../shared/logging.ts';
import type { GuestAccess } from '../guest-access/port.ts';

/** What the aggregated API server works with. Temporal is none of it. */
export interface SubresourcePorts {
  rest: Rest;
  kube: Pick<KubePort, 'get' | 'event'>;
  guests: GuestAccess;
  config: () => ClusterConfig;
  log: Logger;
}

/** The body and query of a request for an object. */
export interface Asked {
  body: unknown;
  query: URLSearchParams;
}
