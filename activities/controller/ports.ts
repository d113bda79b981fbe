import type { Logger } from 'pino';
import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { Kinds, KubePort } from '../kube/port.ts';
import type { WorkflowPort } from '../temporal/port.ts';

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
  cached?: <K extends 'VirtualMachine' | 'VirtualMachineInstance'>(kind: K, uid: string) => Kinds[K] | undefined;
  /** Waits a moment for a Pod to get a node; undefined: it has none yet. Absent: nobody watches Pods here. */
  placed?: (uid: string) => Promise<Pod | undefined>;
  clock: () => Date;
  log: Pick<Logger, 'warn' | 'info'>;
}
