import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

/** A claim as the manifest needs it; a volume whose claim is unknown counts as a file system. */
export interface ClaimFacts {
  volumeMode: 'Filesystem' | 'Block';
  accessModes: string[];
}

/** Everything that a launcher Pod's manifest is made of. */
export interface LaunchInput {
  /** Completed with defaults; uid and namespace are set. */
  vmi: VirtualMachineInstance;
  config: ClusterConfig;
  launcherImage: string;
  /** Which start of this VMI (names the Pod) and under which epoch of the run token. */
  attempt: { attempt: number; epoch: number };
  /** By claim name. */
  claims?: Record<string, ClaimFacts>;
  /** Labels of the VMI's namespace: they may ask for CPU limits. */
  namespaceLabels?: Record<string, string>;
  /** Secrets that pull the launcher's image and the user's images. */
  imagePullSecrets?: string[];
  /** Resource name of a network attachment by `namespace/name`, from its annotation; absent: none. */
  networkResources?: Record<string, string>;
}
