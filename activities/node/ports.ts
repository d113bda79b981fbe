import type { DomainReport } from '../../api/launcher/reports.ts';
import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { MigrationProgress } from '../../api/launcher/migration.ts';
import type { KubePort } from '../kube/port.ts';
import type { ImageCache } from './container-disks/cache.ts';
import type { Mounts } from './container-disks/mounts.ts';
import type { Launchers } from './launcher-client/client.ts';
import type { MigrationProxy } from './migration-proxy/port.ts';
import type { PodNetwork } from './network/setup.ts';
import type { ProcessTable } from './pods/processes.ts';

/** What the activities of one node act on. */
export interface NodePorts {
  /** Name of this worker's Node. */
  node: string;
  /** The kubelet's pods directory as this worker sees it. */
  pods: string;
  kube: KubePort;
  /** As a watch shows it. @throws UnreadableConfiguration */
  clusterConfig(): Promise<ClusterConfig>;
  launchers: Launchers;
  /** What an activity that waits for a Pod's launcher answers, by uid; it does not fail. */
  awaited: Map<string, Promise<DomainReport | undefined>>;
  processes: ProcessTable;
  network: PodNetwork;
  images: ImageCache;
  mounts: Mounts;
  proxy: MigrationProxy;
  /** Of the activity under way: tells the server that it lives, and aborts when it is cancelled. */
  progress(): Progress;
}

export interface Progress {
  heartbeat(detail: string | MigrationProgress): void;
  cancelled: AbortSignal;
}
