import type { Fence } from '../api/contract/nodes.ts';
import { FENCE_RECORD_NAMESPACE, fenceRecordName } from '../api/contract/nodes.ts';
import type { Lease, Node } from '../api/kubernetes/types.ts';
import { fenceOn } from '../api/fencing/index.ts';
import { recordedFence } from './facts/fence-record.ts';
import type { KubePort } from './kube/port.ts';

type Kube = Pick<KubePort, 'get'>;

/**
 * Evidence (d), live: the fence that the Node carries; of a Node that does not exist the one on record. A Node that has registered again and carries
 * none is not fenced: its worker can be asked.
 */
export const liveFence = async (kube: Kube, node: string): Promise<Fence | undefined> => {
  const found = await kube.get('Node', { name: node });
  return found === undefined ? (await readRecord(kube, node))?.fence : fenceOn(found);
};

/** How a worker stands to fences of its own node. `standing`: all that runs here counts as gone. `earlier`: it did, and may run elsewhere by now. */
export type OwnFence = { kind: 'none' } | { kind: 'standing' | 'earlier'; fence: Fence };

/** Live read of a worker's own Node and of the record. `node`: the Node, if it was just read. */
export const ownFence = async (kube: Kube, name: string, node?: Node): Promise<OwnFence> => {
  const found = node ?? (await kube.get('Node', { name }));
  const standing = found === undefined ? undefined : fenceOn(found);
  if (standing !== undefined) return { kind: 'standing', fence: standing };
  const recorded = (await readRecord(kube, name))?.fence;
  if (recorded === undefined) return { kind: 'none' };
  return { kind: found === undefined ? 'standing' : 'earlier', fence: recorded };
};

/** The record of a node's fence and the Lease that holds it. */
export const readRecord = async (kube: Kube, node: string): Promise<{ lease: Lease; fence: Fence } | undefined> => {
  const lease = await kube.get('Lease', { namespace: FENCE_RECORD_NAMESPACE, name: fenceRecordName(node) });
  const fence = lease === undefined ? undefined : recordedFence(lease);
  return lease === undefined || fence === undefined ? undefined : { lease, fence };
};
