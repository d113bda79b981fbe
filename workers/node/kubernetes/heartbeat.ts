import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from '../../../activities/facts/labels.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import { labelChanges } from '../labels/labels.ts';

const INTERVAL_MS = 60_000;
/** So that the workers of a large cluster do not write at once (KubeVirt's figure). */
const JITTER = 0.2;
/** While the node takes no VMs: sooner, for what keeps it from that may be over. */
const CLOSED_INTERVAL_MS = 10_000;
/** After a failure; and between looks whether the node can take VMs. */
const RETRY_MS = 2_000;

export interface HeartbeatOptions {
  node: string;
  /** No sign of life before this; the signal ends the wait. */
  after?: Promise<void>;
  kube: Pick<KubePort, 'mergePatch'>;
  /** Whether a launcher Pod can start here. */
  schedulable: () => boolean;
  /** Which labels say what guests can have here; absent: it is not known (yet). */
  labels?: () => Promise<Record<string, string> | undefined>;
  /** Told of the Node as each heartbeat found it. */
  seen?: (node: Node) => void;
  log: Pick<Logger, 'warn'>;
  signal: AbortSignal;
  clock?: () => Date;
}

/** Merge patch of the Node: alive at `at`, and whether launcher Pods may come. */
export const heartbeatPatch = (
  at: Date,
  schedulable: boolean,
  labels: Record<string, string | null> = {},
): { metadata: { annotations: Record<string, string>; labels: Record<string, string | null> } } => ({
  metadata: {
    annotations: { [HEARTBEAT_ANNOTATION]: `${at.toISOString().slice(0, 19)}Z` },
    labels: { ...labels, [SCHEDULABLE_LABEL]: String(schedulable) },
  },
});

/** Tells the cluster that this node's worker lives, until the signal; then that the node takes no more VMs. What runs is not affected. */
export const keepHeartbeat = async ({
  node,
  after = Promise.resolve(),
  kube,
  schedulable,
  labels = () => Promise.resolve(undefined),
  seen = () => {},
  log,
  signal,
  clock = () => new Date(),
}: HeartbeatOptions): Promise<void> => {
  let last: Node | undefined;
  const beat = async (open: boolean): Promise<boolean> => {
    try {
      const wanted = await labels();
      const changes = wanted === undefined ? {} : labelChanges(last, wanted);
      last = await kube.mergePatch('Node', { name: node }, heartbeatPatch(clock(), open, changes));
      seen(last);
      return true;
    } catch (error) {
      log.warn({ err: error, node }, 'the heartbeat could not be written; trying again');
      return false;
    }
  };
  const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await Promise.race([after, stopped]);
  while (!signal.aborted) {
    const open = schedulable();
    const written = await beat(open);
    const wait = open ? INTERVAL_MS * (1 + JITTER * Math.random()) : CLOSED_INTERVAL_MS;
    const due = Date.now() + (written ? wait : RETRY_MS);
    do await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted && Date.now() < due && schedulable() === open);
  }
  await beat(false);
};
