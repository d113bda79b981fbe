import type { Carried } from './entities.ts';
import type { FailureInfo } from './failures.ts';
import { query, signal } from './messages.ts';
import type { ObjectRef } from './refs.ts';

/**
 * Replica sets: as many VMIs of one kind as are wanted. `replicaSet` with the id `vmirs/<ns>/<name>/<uid>` follows one VirtualMachineInstanceReplicaSet
 * as long as it exists. What there is it reads from the objects each time.
 */

/** Input of `replicaSet`. */
export interface ReplicaSetInput {
  set: ObjectRef;
  carried?: Carried;
  /** Continue as new after this many history events; absent: when the server suggests it. */
  continueAfter?: number;
}

/** From the bridge: the replica set or one of its VMIs changed; look again. */
export const replicaSetObserved = signal<[]>('replicaSetObserved');

/** A VMI of a replica set. */
export interface Replica {
  vmi: ObjectRef;
  /** `active` counts; one that has `ended`, or of which nothing is known, makes room; one that is `leaving` is being deleted. */
  standing: 'active' | 'ended' | 'leaving';
  ready: boolean;
  /** RFC 3339 */
  createdAt: string;
  /** When it ran first, and when it ended; RFC 3339. Absent: it did not, or that is not known. */
  runningSince?: string;
  endedAt?: string;
}

/** A replica set as it is. */
export interface ReplicaSetView {
  /** The object is gone, or another one stands under its name. */
  gone?: true;
  deleting: boolean;
  paused: boolean;
  /** How many there shall be. */
  wanted: number;
  replicas: Replica[];
  /** Of the spec. */
  generation?: number;
  /** Set when the spec cannot work: which field and why. */
  invalid?: string;
}

/** What belongs into its status. */
export interface ReplicaSetReport {
  replicas: number;
  readyReplicas: number;
  paused: boolean;
  /** Why a VMI could not be created or deleted. */
  failure?: FailureInfo & { while: 'creating' | 'deleting' };
  /** Its VMIs end at once: how often in a row, and when the next are created; RFC 3339. */
  backOff?: { failures: number; retryAt: string };
}

/** Answer of the query. */
export interface ReplicaSetStatus extends ReplicaSetReport {
  set: ObjectRef;
  wanted: number;
}

export const replicaSetStatus = query<ReplicaSetStatus>('replicaSetStatus');
