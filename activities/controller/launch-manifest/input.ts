import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

/** A claim as the manifest needs it; a volume whose claim is not listed counts as a file system. */
export interface ClaimFacts {
  volumeMode: 'Filesystem' | 'Block';
}

export type LaunchPurpose = { attempt: number } | { migration: { name: string; uid: string } };

/** Everything that a launcher Pod's manifest is made of. */
export interface LaunchInput {
  /** Completed with defaults; name, namespace and uid are set. */
  vmi: VirtualMachineInstance;
  config: ClusterConfig;
  launcherImage: string;
  /** What the Pod is made for, which names it: a start of the VMI, or to be the target of a migration. */
  purpose: LaunchPurpose;
  /** Of the run token when it is made. */
  epoch: number;
  /** By claim name. */
  claims?: Record<string, ClaimFacts>;
  /** Labels of the VMI's namespace: they may ask for CPU limits and set the ratio of memory limits. */
  namespaceLabels?: Record<string, string>;
  /** A ResourceQuota of the namespace bounds these limits, so that Pods without them would be refused. */
  quotaOnLimits?: { cpu?: boolean; memory?: boolean };
  /** Digests in the VMI are those of the images that a migration's source runs: Kubernetes need not tell them again. */
  digestsKnown?: boolean;
  /** Secret that pulls the launcher's image. */
  imagePullSecret?: string;
}

/** The spec asks for something that no launcher Pod can be made of. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}
