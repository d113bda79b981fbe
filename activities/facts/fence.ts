import { z } from 'zod';
import type { Fence, FenceWord, NodeRef } from '../../api/contract/nodes.ts';
import { FENCE_ANNOTATION, FENCE_RECORD_NAMESPACE, fenceRecordName } from '../../api/contract/nodes.ts';
import type { Lease, Node } from '../../api/kubernetes/types.ts';

/** Kubernetes' word for "this node is down and will not come back by itself". */
export const FENCE_TAINT = 'node.kubernetes.io/out-of-service';

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

const BY = 'virtflow.io/fenced-by';
const NODE_UID = 'virtflow.io/node-uid';
const BOOT_ID = 'virtflow.io/boot-id';

const KINDS: readonly Fence['by'][] = ['outOfService', 'operator', 'nodeDeleted'];

/** A fence as it is put on record. `before` carries resourceVersion and foreign annotations over; without it the record is new. */
export const recordLease = ({ name }: Pick<NodeRef, 'name'>, fence: Fence, before?: Lease): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    ...before?.metadata,
    namespace: FENCE_RECORD_NAMESPACE,
    name: fenceRecordName(name),
    annotations: {
      ...before?.metadata?.annotations,
      [BY]: fence.by,
      [NODE_UID]: fence.nodeUid,
      [BOOT_ID]: fence.bootId,
    },
  },
  spec: { holderIdentity: `fenced (${fence.by})` },
});

/** Reads a record. */
export const recordedFence = ({ metadata }: Lease): Fence | undefined => {
  const { [BY]: by, [NODE_UID]: nodeUid, [BOOT_ID]: bootId = '' } = metadata?.annotations ?? {};
  const kind = KINDS.find((one) => one === by);
  return kind === undefined || nodeUid === undefined ? undefined : { by: kind, nodeUid, bootId };
};

const WORDS: Record<Fence['by'], string> = {
  outOfService: `is tainted ${FENCE_TAINT}`,
  operator: 'was fenced by an operator (virtflow fence)',
  nodeDeleted: 'was deleted, and its worker has been silent since',
};

/** "node a was fenced by …", for messages. */
export const describeFence = (node: string, { by }: Pick<Fence, 'by'>): string => `node ${node} ${WORDS[by]}`;
