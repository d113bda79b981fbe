import type { Logger } from 'pino';
import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { KubePort } from '../kube/port.ts';
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
  clock: () => Date;
  log: Pick<Logger, 'warn' | 'info'>;
}
