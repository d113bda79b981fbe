import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { Fence, NodeRef } from '../../../api/contract/nodes.ts';
import { FENCE_RECORD_NAMESPACE, fenceRecordName, HEARTBEAT_ANNOTATION } from '../../../api/contract/nodes.ts';
import { nodeQueue } from '../../../api/contract/task-queues.ts';
import { fenceOn } from '../../../api/fencing/index.ts';
import { recordedAt, recordedFence, recordLease } from '../../facts/fence-record.ts';
import { isSilent } from '../../facts/node.ts';
import { readRecord } from '../../fencing.ts';
import type { KubePort } from '../../kube/port.ts';
import { onConflictAgain } from '../races.ts';
import type { ControllerPorts } from '../ports.ts';

/** Puts a fence on record. Safe to run twice: the same fence stays as it is, another one of the node replaces it. */
export const recordFence =
  ({ kube, clock }: Pick<ControllerPorts, 'kube' | 'clock'>): ControllerActivities['recordFence'] =>
  ({ node, fence }) =>
    record(kube, node, fence, clock());

const record = (kube: KubePort, node: NodeRef, fence: Fence, at: Date): Promise<void> =>
  onConflictAgain(async () => {
    const before = await kube.get('Lease', { namespace: FENCE_RECORD_NAMESPACE, name: fenceRecordName(node.name) });
    const known = before === undefined ? undefined : recordedFence(before);
    if (known?.by === fence.by && known.nodeUid === fence.nodeUid && known.bootId === fence.bootId) return;
    const lease = recordLease(node, fence, at.toISOString(), before);
    await (before === undefined ? kube.create('Lease', lease) : kube.replace('Lease', lease));
  });

/** Takes the record away, unless the worker's last heartbeat is older: a worker gives none before it has stopped what is stale. */
export const liftFence =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['liftFence'] =>
  async ({ node }) => {
    const read = await readRecord(kube, node.name);
    if (read === undefined) return { waits: false };
    const found = await kube.get('Node', { name: node.name });
    const heartbeat = found?.metadata?.annotations?.[HEARTBEAT_ANNOTATION] ?? '';
    const isOfThis = found?.metadata?.uid === node.uid && fenceOn(found) === undefined;
    if (!isOfThis || moment(heartbeat) <= moment(recordedAt(read.lease))) return { waits: true };
    const { uid = '', resourceVersion = '' } = read.lease.metadata ?? {};
    await kube.remove(
      'Lease',
      { namespace: FENCE_RECORD_NAMESPACE, name: fenceRecordName(node.name) },
      { uid, resourceVersion },
    );
    return { waits: false };
  };

/**
 * A deleted Node is fenced once no Node of its name exists, and its worker has given no sign of life for long enough: neither by the last heartbeat on
 * the Node nor by asking Temporal for work, which it does even if it has lost its Node. One that was fenced before it was deleted stays so.
 */
export const assessDeletedNode =
  ({
    kube,
    workflows,
    clock,
  }: Pick<ControllerPorts, 'kube' | 'workflows' | 'clock'>): ControllerActivities['assessDeletedNode'] =>
  async ({ node, bootId, heartbeat }) => {
    const found = await kube.get('Node', { name: node.name });
    if (found?.metadata?.uid === node.uid) return { outcome: 'alive', lastSign: clock().toISOString() };
    if (found !== undefined) return { outcome: 'registered' };
    const recorded = (await readRecord(kube, node.name))?.fence;
    if (recorded?.nodeUid === node.uid) return { outcome: 'fenced', fence: recorded };
    const polled = await workflows.lastPolled(nodeQueue(node.name));
    const lastSign = [heartbeat, polled ?? ''].sort((a, b) => moment(a) - moment(b)).at(-1) ?? '';
    if (!isSilent(lastSign, clock().getTime())) return { outcome: 'alive', lastSign };
    const fence: Fence = { by: 'nodeDeleted', nodeUid: node.uid, bootId };
    await record(kube, node, fence, clock());
    return { outcome: 'fenced', fence };
  };

/** What cannot be read is long ago. */
const moment = (time: string): number => Date.parse(time) || 0;
