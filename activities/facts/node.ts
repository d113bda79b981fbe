import type { NodeFacts, NodeRef } from '../../api/contract/nodes.ts';
import { SILENT_AFTER_MS } from '../../api/contract/nodes.ts';
import type { Node } from '../../api/kubernetes/types.ts';
import { fenceOn } from '../../api/fencing/index.ts';
import { HEARTBEAT_ANNOTATION, SCHEDULABLE_LABEL } from './labels.ts';

export const nodeRef = ({ metadata }: Node): NodeRef => ({ name: metadata?.name ?? '', uid: metadata?.uid ?? '' });

/** What decisions about a Node need. @param now in ms since 1970 */
export const nodeFacts = (node: Node, now: number): NodeFacts => {
  const heartbeat = node.metadata?.annotations?.[HEARTBEAT_ANNOTATION] ?? '';
  const fence = fenceOn(node);
  return {
    node: nodeRef(node),
    bootId: node.status?.nodeInfo?.bootID ?? '',
    heartbeat,
    silent: isSilent(heartbeat, now),
    schedulable: node.metadata?.labels?.[SCHEDULABLE_LABEL] === 'true',
    ...(fence === undefined ? {} : { fence }),
  };
};

/** No worker has ever given a sign of life there. */
export const hasNoWorker = ({ heartbeat }: NodeFacts): boolean => heartbeat === '';

/** A heartbeat that cannot be read is none. */
export const isSilent = (heartbeat: string, now: number): boolean => !(now - Date.parse(heartbeat) < SILENT_AFTER_MS);
