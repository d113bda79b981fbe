import type { ClusterConfig } from '../../../../../api/cluster-config/index.ts';
import type { AdmissionPorts } from '../../../../../workers/controller/webhooks/index.ts';
import { configured } from '../../../../support/instances.ts';

/** An empty cluster. */
export const ports = (config: ClusterConfig = configured()): AdmissionPorts => ({
  kube: {
    get: () => Promise.resolve(undefined),
    list: () => Promise.resolve([]),
    mergePatch: () => Promise.reject(new Error('nothing is to be changed')),
  },
  config: () => config,
  namespace: 'virtflow',
  clock: () => new Date('2026-01-01T00:00:00Z'),
  cached: { instance: () => undefined, migrations: () => [] },
});
