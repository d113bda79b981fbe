import type { Carried } from './entities.ts';
import { query, signal } from './messages.ts';

/**
 * Nodes and fencing. `nodeLifecycle` with the id `node/<name>/<uid>` follows one Node that has (or had) a node worker: a silent one takes no more
 * VMs and its instances say so; a fenced one counts as gone, with everything that ran on it.
 */

/** A Node; another one may come to have the name. */
export interface NodeRef {
  name: string;
  uid: string;
}

/** On a Node, KubeVirt's names: last heartbeat of its worker, and whether that takes VMs. */
export const HEARTBEAT_ANNOTATION = 'kubevirt.io/heartbeat';
export const SCHEDULABLE_LABEL = 'kubevirt.io/schedulable';

/** On a fenced Node: nothing is scheduled there any more (NoSchedule). */
export const FENCED_TAINT = 'virtflow.io/fenced';

/** A worker that has not been heard of for so long is silent (KubeVirt's figure, its node controller), in ms. */
export const SILENT_AFTER_MS = 300_000;

/** Annotation of a Node: an operator's word that the machine is off and stays so. Written by `virtflow fence`: JSON of FenceWord. */
export const FENCE_ANNOTATION = 'virtflow.io/fenced';

/** What an operator says: about this Node and this boot of its machine. */
export interface FenceWord {
  nodeUid: string;
  bootId: string;
  /** RFC 3339 */
  at: string;
}

/** Why everything that ran on a node counts as gone (design: evidence d). */
export interface Fence {
  /** The out-of-service taint; `virtflow fence`; the Node was deleted, its worker is silent and has not registered again. */
  by: 'outOfService' | 'operator' | 'nodeDeleted';
  nodeUid: string;
  /** The boot of the machine that it speaks of; '' when it never reported one. */
  bootId: string;
}

/**
 * Record of a fence: a Lease beside Kubernetes' own Leases of nodes. It outlives the Node, and stays until a worker is heard of there again: that one
 * knows by it that what it finds running may have been started elsewhere, and takes no VMs before it is gone.
 */
export const FENCE_RECORD_NAMESPACE = 'kube-node-lease';
export const fenceRecordName = (node: string): string => `virtflow-fence-${node}`;

/** A Node, as its workflow needs it. */
export interface NodeFacts {
  node: NodeRef;
  /** status.nodeInfo.bootID; '' when it has not reported one. */
  bootId: string;
  /** Last heartbeat of its worker; RFC 3339; '' for none. */
  heartbeat: string;
  /** That is longer ago than SILENT_AFTER_MS. */
  silent: boolean;
  /** Its worker takes VMs. */
  schedulable: boolean;
  fence?: Fence;
  /** The object is gone (a watch said Deleted, or a live read said 404), or another one stands under its name. */
  gone?: boolean;
}

/** Input of `nodeLifecycle`. */
export interface NodeLifecycleInput {
  node: NodeRef;
  carried?: Carried;
  /** Continue as new after this many history events; absent: when the server suggests it. */
  continueAfter?: number;
}

/** From the bridge: the Node changed in a way that matters, or something that its instances should know is not seen on them. Never for a heartbeat alone. */
export const nodeObserved = signal<[NodeFacts]>('nodeObserved');

/** What an instance is told of the node that it runs on. */
export interface NodeReport {
  node: string;
  standing: 'responsive' | 'silent' | 'fenced';
  /** For the instance's status: since when, and what can be done. */
  message: string;
}

/** To the entities of instances. */
export const nodeReported = signal<[NodeReport]>('nodeReported');

/** Condition of a VMI whose node is silent; its reason too. */
export const NODE_UNRESPONSIVE = 'NodeUnresponsive';

/** What became of a Node that is deleted. */
export type DeletedNode =
  /** Another Node has registered under the name: its own workflow sees to it. */
  | { outcome: 'registered' }
  /** Its worker has given a sign of life too recently; RFC 3339. */
  | { outcome: 'alive'; lastSign: string }
  | { outcome: 'fenced'; fence: Fence };

export interface NodeStatus {
  node: NodeRef;
  standing: string;
  since: string;
  fence?: Fence;
}

export const nodeStatus = query<NodeStatus>('nodeStatus');
