import type { Logger } from 'pino';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Capabilities } from './capabilities.ts';
import { cpuManagerLabels } from './cpu-manager.ts';
import { nodeLabels } from './labels.ts';

/** How often the configuration is read for them (KubeVirt's figure). */
const REFRESH_MS = 180_000;

/** The labels of this node, worked out anew from time to time. While the configuration cannot be read the last ones stay. */
export const keptLabels = (
  capabilities: Promise<Capabilities>,
  cpuManagerState: string,
  clusterConfig: () => Promise<ClusterConfig>,
  log: Pick<Logger, 'warn'>,
): (() => Promise<Record<string, string> | undefined>) => {
  let labels: Record<string, string> | undefined;
  let readAt = -Infinity;
  return async () => {
    const now = performance.now();
    if (now - readAt < REFRESH_MS) return labels;
    try {
      labels = {
        ...nodeLabels(await capabilities, await clusterConfig()),
        ...(await cpuManagerLabels(cpuManagerState)),
      };
      readAt = now;
    } catch (error) {
      log.warn({ err: error }, 'labels of the node are not brought up to date: the configuration cannot be read');
    }
    return labels;
  };
};
