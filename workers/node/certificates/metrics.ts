import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { NodeCredentials } from './credentials.ts';

/** How long this worker's certificate is valid yet. */
export const certificateMetrics = (register: Registry, { expiresAt }: Pick<NodeCredentials, 'expiresAt'>): void => {
  new Gauge({
    name: 'virtflow_node_certificate_expiry_seconds',
    help: 'Seconds until the certificate for other node workers expires; NaN without one',
    registers: [register],
    collect() {
      this.set(((expiresAt() ?? NaN) - Date.now()) / 1000);
    },
  });
};
