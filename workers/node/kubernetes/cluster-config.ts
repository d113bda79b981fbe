import type { KubePort } from '../../../activities/kube/port.ts';
import { effectiveConfiguration } from '../../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';

/** Live read of the cluster's configuration. There is one KubeVirt object; of several the oldest counts. @throws UnreadableConfiguration */
export const readClusterConfig = (kube: Pick<KubePort, 'list'>) => async (): Promise<ClusterConfig> => {
  const age = (object: { metadata?: { creationTimestamp?: string } }): string =>
    object.metadata?.creationTimestamp ?? '';
  const [oldest] = (await kube.list('KubeVirt')).sort((a, b) => age(a).localeCompare(age(b)));
  return effectiveConfiguration(oldest);
};
