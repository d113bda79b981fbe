import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { KubePort } from '../../../activities/kube/port.ts';
import { machineTypeLabels } from './machine-types.ts';

/** KubeVirt's names; its controller takes a node whose heartbeat is older than five minutes out of service. */
export const HEARTBEAT_ANNOTATION = 'kubevirt.io/heartbeat';
export const SCHEDULABLE_LABEL = 'kubevirt.io/schedulable';

const INTERVAL_MS = 60_000;
/** So that the workers of a large cluster do not write at once (KubeVirt's figure). */
const JITTER = 0.2;
/** After a failure, or while the node cannot take VMs yet. */
const RETRY_MS = 2_000;

export interface HeartbeatOptions {
  node: string;
  kube: Pick<KubePort, 'mergePatch'>;
  /** Whether a launcher Pod can start here. */
  schedulable: () => boolean;
  log: Pick<Logger, 'warn'>;
  signal: AbortSignal;
  clock?: () => Date;
}

/** Merge patch of the Node: alive at `at`, and whether launcher Pods may come. */
export const heartbeatPatch = (at: Date, schedulable: boolean): object => ({
  metadata: {
    annotations: { [HEARTBEAT_ANNOTATION]: `${at.toISOString().slice(0, 19)}Z` },
    labels: { ...machineTypeLabels(process.arch), [SCHEDULABLE_LABEL]: String(schedulable) },
  },
});

/** Tells the cluster that this node's worker lives, until the signal; then that the node takes no more VMs. What runs is not affected. */
export const keepHeartbeat = async ({
  node,
  kube,
  schedulable,
  log,
  signal,
  clock = () => new Date(),
}: HeartbeatOptions): Promise<void> => {
  const beat = async (open: boolean): Promise<boolean> => {
    try {
      await kube.mergePatch('Node', { name: node }, heartbeatPatch(clock(), open));
      return true;
    } catch (error) {
      log.warn({ err: error, node }, 'the heartbeat could not be written; trying again');
      return false;
    }
  };
  while (!signal.aborted) {
    const open = schedulable();
    const written = await beat(open);
    const wait = written && open ? INTERVAL_MS * (1 + JITTER * Math.random()) : RETRY_MS;
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
  await beat(false);
};
