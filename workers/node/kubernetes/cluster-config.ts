import { setTimeout as delay } from 'node:timers/promises';
import type { Rest } from '../../../activities/kube/rest.ts';
import { effectiveConfiguration, UnreadableConfiguration } from '../../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../../api/kubevirt/types.ts';
import { Informer } from '../../shared/informer.ts';
import type { Logger } from '../../shared/logging.ts';

/**
 * The cluster's configuration. There is one KubeVirt object; of several the oldest counts. Of one that cannot be read the last good configuration stays
 * in force, which the controller keeps in its status.
 * @throws UnreadableConfiguration when there is none
 */
export const clusterConfigOf = (objects: KubeVirt[]): ClusterConfig => {
  const age = ({ metadata }: KubeVirt): string => metadata?.creationTimestamp ?? '';
  const [oldest] = objects.sort((a, b) => age(a).localeCompare(age(b)));
  try {
    return effectiveConfiguration(oldest);
  } catch (error) {
    const lastGood = oldest?.status?.observedDeploymentConfig;
    if (!(error instanceof UnreadableConfiguration) || !lastGood) throw error;
    return effectiveConfiguration({ spec: { configuration: JSON.parse(lastGood) as object } } as KubeVirt);
  }
};

/** So many nodes watch it that each should have to begin anew seldom, in s. */
const WATCH_SECONDS = 300;
/** For the first list, in ms. */
const PATIENCE_MS = 10_000;

/**
 * The cluster's configuration as a watch shows it, until the signal.
 * @param rest bears a silence of more than 400 s
 */
export const watchClusterConfig = (rest: Rest, log: Logger, signal: AbortSignal): (() => Promise<ClusterConfig>) => {
  const watchSeconds = WATCH_SECONDS;
  const informer = new Informer({ rest, kind: 'KubeVirt', watchSeconds, log, onChange: () => undefined });
  void informer.run(signal);
  return async () => {
    if (!informer.isSynced) await Promise.race([informer.synced, delay(PATIENCE_MS, undefined, { ref: false })]);
    if (!informer.isSynced) throw new Error(`the cluster's configuration is not known: ${informer.check().detail}`);
    return clusterConfigOf(informer.list());
  };
};
