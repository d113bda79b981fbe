import type { NodeActivities } from '../../../api/contract/activities.ts';
import { describeFence } from '../../../api/fencing/index.ts';
import { failure } from '../../failures.ts';
import { liveFence, ownFence } from '../../fencing.ts';
import type { NodePorts } from '../ports.ts';
import { stopStaleDomains } from './stop-domains.ts';

/** A worker that lives although its node is fenced stops every domain here: that is what the fence says of them. */
export const stopFencedDomains =
  (ports: NodePorts): NodeActivities['stopFencedDomains'] =>
  async () => {
    const fence = await ownFence(ports.kube, ports.node);
    const stopped = fence.kind === 'standing' ? await stopStaleDomains(ports, fence) : [];
    return { stopped: stopped.map(({ podUid }) => podUid) };
  };

/** Live read: no domain starts or arrives on a fenced node, where it would count as gone. @throws NodeFenced */
export const refuseFenced = async ({ kube, node }: Pick<NodePorts, 'kube' | 'node'>): Promise<void> => {
  const fence = await liveFence(kube, node);
  if (fence === undefined) return;
  const way = fence.by === 'operator' ? `virtflow fence --undo ${node}` : 'take the taint away';
  throw failure('NodeFenced', `${describeFence(node, fence)}: no domain starts here. Once the node is well: ${way}.`);
};
