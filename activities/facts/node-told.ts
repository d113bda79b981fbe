import type { NodeReport } from '../../api/contract/nodes.ts';
import { NODE_UNRESPONSIVE } from '../../api/contract/nodes.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { isFinal } from './instance.ts';

/** Whether an instance of a node does not show yet how its node stands. Its status tells: so it is told again until it has heard, and no more. */
export const isUntold = (
  { status }: VirtualMachineInstance,
  { node, standing }: Pick<NodeReport, 'node' | 'standing'>,
): boolean => {
  if (isFinal(status?.phase ?? '')) return false;
  const saysSilent = (status?.conditions ?? []).some(
    (condition) => condition.type === NODE_UNRESPONSIVE && condition.status === 'True',
  );
  if (standing === 'fenced') return true;
  // Of another node than the one that it runs on it says nothing.
  if (status?.nodeName !== node) return false;
  return saysSilent !== (standing === 'silent');
};
