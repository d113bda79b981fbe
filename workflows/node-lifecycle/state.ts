import type { DeletedNode, Fence, NodeFacts, NodeRef } from '../../api/contract/nodes.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';

/**
 * How a Node stands.
 *   serving   its worker lives and takes VMs
 *   closed    its worker lives and takes none
 *   silent    its worker has not been heard of: nothing is known of what runs there, and nothing is done to it
 *   fenced    all that ran there counts as gone
 *   deleted   the object is gone: fenced once its worker is silent, and it has not registered again
 */
export type Standing = 'serving' | 'closed' | 'silent' | 'fenced' | 'deleted';

/** All that a Node's workflow knows; JSON only. */
export interface NodeState {
  node: NodeRef;
  facts?: NodeFacts;
  /** That was carried out last: the Node, its record and its instances say so. */
  standing?: Standing;
  /** Since when; RFC 3339. */
  since: string;
  /** Is being carried out. */
  settling?: Standing;
  /** There was news meanwhile. */
  again?: true;
  /** When to look again although nothing happened: at a deleted Node, at the record of an earlier fence, or after a failure. */
  wakeAt?: string;
  /** Why it could not be carried out. */
  failure?: FailureInfo;
  /** Of a deleted Node. */
  fence?: Fence;
  over?: true;
}

export type NodeEvent =
  | { type: 'observed'; facts: NodeFacts }
  /** `waits`: the record of an earlier fence waits for the worker. */
  | { type: 'settled'; standing: Standing; waits?: boolean }
  /** What became of a deleted Node. */
  | { type: 'assessed'; found: DeletedNode }
  | { type: 'failed'; failure: FailureInfo }
  | { type: 'timerFired' };

export type NodeCommand =
  | { type: 'settle'; standing: Exclude<Standing, 'deleted'>; facts: NodeFacts; fence?: Fence }
  | { type: 'assessDeleted'; facts: NodeFacts };

export interface NodeDecision {
  state: NodeState;
  commands: NodeCommand[];
}

/** @param at now; RFC 3339 */
export const initialState = (node: NodeRef, at: string): NodeState => ({ node, since: at });
