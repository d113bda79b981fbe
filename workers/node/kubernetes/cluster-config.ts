import type { KubePort } from '../../../activities/kube/port.ts';
import { effectiveConfiguration, UnreadableConfiguration } from '../../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../../api/kubevirt/types.ts';

/**
 * Live read of the cluster's configuration. There is one KubeVirt object; of several the oldest counts. Of one that cannot be read the last good
 * configuration stays in force, which the controller keeps in its status.
 * @throws UnreadableConfiguration when there is none
 */
export const readClusterConfig = (kube: Pick<KubePort, 'list'>) => async (): Promise<ClusterConfig> => {
  const age = ({ metadata }: KubeVirt): string => metadata?.creationTimestamp ?? '';
  const [oldest] = (await kube.list('KubeVirt')).sort((a, b) => age(a).localeCompare(age(b)));
  try {
    return effectiveConfiguration(oldest);
  } catch (error) {
    const lastGood = oldest?.status?.observedDeploymentConfig;
    if (!(error instanceof UnreadableConfiguration) || !lastGood) throw error;
    return effectiveConfiguration({ spec: { configuration: JSON.parse(lastGood) as object } } as KubeVirt);
  }
};
