import type { ObjectRef } from './refs.ts';

/**
 * What the bridge tells of objects. Facts hold no spec and no secret, only what decisions need; every fact comes from a live-read or watched
 * object, never from the absence of one.
 */

/** A VirtualMachine, as its entity needs it. */
export interface VirtualMachineFacts {
  vm: ObjectRef;
  resourceVersion: string;
  generation: number;
  /** Effective strategy: spec.runStrategy, or spec.running translated. An unknown word is carried as it is. */
  runStrategy: string;
  deleting: boolean;
  /** It is being deleted and its instance is to stay. */
  orphans?: boolean;
  finalizers: string[];
  stateChangeRequests: { action: string; uid?: string; data?: Record<string, string> }[];
  /** status.runStrategy: the strategy in force since an instance has existed. */
  ranUnder?: string;
  /** status.startFailure, for an entity that has no history. */
  startFailure?: { count: number; uid: string; retryAt: string };
  /** It has dataVolumeTemplates, which are created at once or only when it starts. */
  dataVolumes?: 'now' | 'atStart';
  /** Condition ManualRecoveryRequired is True: nothing starts until a person has taken it away. */
  manualRecovery?: boolean;
  /** Set when the spec cannot work: which field and why. */
  invalid?: string;
  /** The object is gone (a watch said Deleted, or a live read said 404). */
  gone?: boolean;
}

/** A VirtualMachineInstance, as its own entity and its VM's entity need it. */
export interface InstanceFacts {
  vmi: ObjectRef;
  resourceVersion: string;
  /** '' until first written. */
  phase: string;
  deleting: boolean;
  /** RFC 3339; with `gracePeriodSeconds` it gives the deadline of a shutdown. */
  deletionTimestamp?: string;
  /** spec.terminationGracePeriodSeconds; 30 when absent. */
  gracePeriodSeconds: number;
  finalizers: string[];
  /** The controlling VirtualMachine, if any. */
  owner?: { name: string; uid: string };
  ready: boolean;
  paused: boolean;
  /** status.evacuationNodeName: the node that it is asked to leave. */
  evacuationNode?: string;
  /** spec.startStrategy is Paused. */
  startPaused?: boolean;
  /** Nobody has written its status since it was created, and it is not being deleted. */
  untouched?: true;
  /** status.phaseTransitionTimestamps says that it was Running once; without it only an observed phase tells. */
  ran?: boolean;
  /** True once the object is known to be gone (a watch said Deleted, or a live read said 404). */
  gone?: boolean;
}

/** A launcher Pod. */
export interface PodFacts {
  name: string;
  uid: string;
  resourceVersion: string;
  /** Value of the created-by label: the VMI's uid. */
  createdBy: string;
  /** Attempt of startInstance that created it, if the Pod tells. */
  attempt?: number;
  /** The VMIM whose target it is (label kubevirt.io/migrationJobUID, annotation kubevirt.io/migrationJobName). */
  migration?: { name: string; uid: string };
  node?: string;
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  deleting: boolean;
  /** The `compute` container runs and all others are ready. */
  computeReady: boolean;
  /** Condition PodScheduled is False: why. */
  unschedulable?: { reason: string; message: string };
  /** A readiness probe of the user's says that it is not ready, or has not said anything yet: why. */
  unready?: { reason: string; message: string };
  /** Image of its launcher. */
  image?: string;
  /** A container that cannot start: ErrImagePull, ImagePullBackOff, CreateContainerConfigError, … */
  waiting?: { container: string; reason: string; message: string };
  /** Evidence (c) of the design: final, every container status terminated, and no DisruptionTarget condition. */
  provenEnded: boolean;
  /** Evidence (d): its node is fenced, in words. Looked for only where evidence is asked for. */
  fenced?: string;
  /** Exit code of `compute`, once terminated. */
  exitCode?: number;
  /** Pod's own reason or message when it failed (Evicted, …). */
  reason?: string;
  /** The object is gone (a watch said Deleted, or a live read said 404). */
  gone?: boolean;
}
