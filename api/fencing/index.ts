import { z } from 'zod';
import type { Node } from '../kubernetes/types.ts';
import type { Fence, FenceWord } from '../contract/nodes.ts';
import { FENCE_ANNOTATION } from '../contract/nodes.ts';

/** Kubernetes' word for "this node is down and will not come back by itself". */
const FENCE_TAINT = 'node.kubernetes.io/out-of-service';

/** The fence that a Node carries: whoever set the taint or the annotation vouches that the machine runs nothing. */
export const fenceOn = (node: Node): Fence | undefined => {
  const nodeUid = node.metadata?.uid ?? '';
  const bootId = node.status?.nodeInfo?.bootID ?? '';
  if (node.spec?.taints?.some(({ key }) => key === FENCE_TAINT) === true)
    return { by: 'outOfService', nodeUid, bootId };
  const word = fenceWordOf(node);
  // A word about another Node of this name says nothing.
  return word?.nodeUid === nodeUid ? { by: 'operator', nodeUid, bootId: word.bootId } : undefined;
};

const fenceWord = z.object({ nodeUid: z.string().min(1), bootId: z.string(), at: z.string() });

/** What the operator wrote on the Node; undefined: nothing, or nothing that can be read. */
export const fenceWordOf = ({ metadata }: Node): FenceWord | undefined => {
  const text = metadata?.annotations?.[FENCE_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return fenceWord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

const WORDS: Record<Fence['by'], string> = {
  outOfService: `is tainted ${FENCE_TAINT}`,
  operator: 'was fenced by an operator (virtflow fence)',
  nodeDeleted: 'was deleted, and its worker has been silent since',
};

/** "node a was fenced by …", for messages. */
export const describeFence = (node: string, { by }: Pick<Fence, 'by'>): string => `node ${node} ${WORDS[by]}`;
