import type { Logger } from 'pino';
import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { Namespace, Node, Pod, ResourceQuota } from '../../api/kubernetes/types.ts';
import type { Kinds, KubePort } from '../kube/port.ts';
import type { WorkflowPort } from '../temporal/port.ts';
import type { Tokens } from './token/store.ts';

export type CachedKind = 'VirtualMachine' | 'VirtualMachineInstance' | 'Pod';

/** Objects that a start only looks at. They are as old as the watch is: what a start makes of them is tried again when it does not fit. */
export interface Around {
  node(name: string): Node | undefined;
  namespace(name: string): Namespace | undefined;
  quotas(namespace: string): ResourceQuota[];
  /** Launcher Pods that a VMI has created. */
  launcherPods(vmiUid: string): Pod[];
}

/** What controller activities need of the outside. */
export interface ControllerPorts {
  kube: KubePort;
  workflows: WorkflowPort;
  /** Configuration in force: of the KubeVirt object as it was last readable. */
  config: () => ClusterConfig;
  launcherImage: string;
  /** Name of the Secret (in the VMI's namespace) that pulls the launcher's image. */
  imagePullSecret?: string;
  /** What a watch has shown last of an object: no evidence of anything, and only to be written over with its resourceVersion. Absent: nobody watches here. */
  cached?: <K extends CachedKind>(kind: K, uid: string) => Kinds[K] | undefined;
  /** What watches have shown of where VMs run. Absent: nobody watches here. */
  around?: Around;
  /** Waits a moment for a Pod to get a node; undefined: it has none yet. Absent: nobody watches Pods here. */
  placed?: (uid: string) => Promise<Pod | undefined>;
  /** Waits a moment for a Pod to go. Absent: nobody watches Pods here. */
  removed?: (uid: string) => Promise<void>;
  clock: () => Date;
  log: Pick<Logger, 'warn' | 'info'>;
}

/** The API server, and what is known of run tokens. */
export interface TokenPorts extends Pick<ControllerPorts, 'kube'> {
  tokens: Tokens;
}
