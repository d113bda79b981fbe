import type { Carried } from './entities.ts';
import type { FailureInfo } from './failures.ts';
import { query, signal } from './messages.ts';
import type { NodeRef } from './nodes.ts';
import type { ObjectRef } from './refs.ts';

/**
 * Emptying a node. Whoever drains it (or the descheduler) evicts launcher Pods; the front door makes of an eviction the wish that the VMI leaves its node
 * (status.evacuationNodeName). `evacuateNode` with the id `evacuate/<node>/<node uid>` creates the migrations for it, which the scheduler of migrations lets
 * begin as limits and priorities allow. Who is to leave, what moves and what has failed is read from the objects each time.
 */

/** On a VMIM, KubeVirt's name: the node that it helps to empty. */
export const EVACUATION_ANNOTATION = 'kubevirt.io/evacuationMigration';
/** On a VMI, KubeVirt's name: who asked that it leaves its node, if that matters. */
export const EVICTION_SOURCE_ANNOTATION = 'kubevirt.io/eviction-source';
/** Its value for a descheduler: nobody waits for such a migration. */
export const DESCHEDULER = 'descheduler';

/** Input of `evacuateNode`. */
export interface EvacuationInput {
  node: NodeRef;
  carried?: Carried;
  /** Continue as new after this many history events; absent: when the server suggests it. */
  continueAfter?: number;
}

/** From the bridge: look again who is to leave the node. */
export const evacuationObserved = signal<[]>('evacuationObserved');

/** An instance that is asked to leave the node, and still runs there. */
export interface Leaving {
  vmi: ObjectRef;
  /** Its launcher Pod was evicted; or the node carries the taint that empties it. */
  by: 'eviction' | 'taint';
  /** Why no migration is created for it; absent: one can be. */
  obstacle?: { reason: 'NotMigratable' | 'External' | 'PodsLeft'; message: string };
  /** A migration of it that is not over, whoever asked for it. */
  migration?: { name: string; phase: string };
  /** Evacuation migrations that failed since the last success: how many, and the last one; RFC 3339. */
  failed?: { count: number; name: string; at: string; message: string };
}

/** What there is to do on a node. */
export interface EvacuationView {
  /** The Node is gone, or another one stands under its name. */
  gone?: true;
  cordoned: boolean;
  /** In the order of namespace and name. */
  leaving: Leaving[];
  /** Migrations that were created to empty the node, do not run yet, and are not wanted any more. */
  unwanted: ObjectRef[];
}

/** How it stands with one instance. */
export interface LeavingStatus {
  vmi: ObjectRef;
  standing: 'moving' | 'beginning' | 'backingOff' | 'refused' | 'obstructed';
  /** Name of the migration under way, or of the one that failed last. */
  migration?: string;
  /** What it waits for, in words. */
  why: string;
  /** When the next migration is created; RFC 3339. */
  nextTryAt?: string;
}

/** Answer of the query. */
export interface EvacuationStatus {
  node: NodeRef;
  /** RFC 3339 */
  since: string;
  cordoned: boolean;
  leaving: LeavingStatus[];
  /** What keeps the workflow itself from going on. */
  failure?: FailureInfo;
}

export const evacuationStatus = query<EvacuationStatus>('evacuationStatus');

/** How it ended. */
export interface EvacuationResult {
  node: NodeRef;
  /** Nobody is to leave any more: they left, or it was taken back; the Node was made schedulable again; it is gone. */
  end: 'done' | 'uncordoned' | 'nodeGone';
  /** Migrations that were created. */
  created: number;
}
