import type { Fence, NodeRef } from '../../api/contract/nodes.ts';
import { FENCE_RECORD_NAMESPACE, fenceRecordName } from '../../api/contract/nodes.ts';
import type { Lease } from '../../api/kubernetes/types.ts';

const BY = 'virtflow.io/fenced-by';
const NODE_UID = 'virtflow.io/node-uid';
const BOOT_ID = 'virtflow.io/boot-id';
const AT = 'virtflow.io/fenced-at';

const KINDS: readonly Fence['by'][] = ['outOfService', 'operator', 'nodeDeleted'];

/** When the fence was put on record; RFC 3339. */
export const recordedAt = ({ metadata }: Lease): string => metadata?.annotations?.[AT] ?? '';

/** A fence as it is put on record. `before` carries resourceVersion and foreign annotations over; without it the record is new. */
export const recordLease = ({ name }: Pick<NodeRef, 'name'>, fence: Fence, at: string, before?: Lease): Lease => ({
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
      [AT]: at,
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
