import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

/** Set to true on a Node by its worker, while it serves. */
export const SCHEDULABLE_SELECTOR = 'kubevirt.io/schedulable=true';

/**
 * Why no node can be the target, whatever room it has; undefined if one can. Only what people have chosen counts: a node may be given room, or be
 * uncordoned, while the target Pod waits for it.
 * @param nodes every node whose worker serves
 */
export const noSecondNode = (
  vmi: VirtualMachineInstance,
  addedNodeSelector: Record<string, string> | undefined,
  { nodeSelectors }: Pick<ClusterConfig, 'nodeSelectors'>,
  nodes: readonly Node[],
): string | undefined => {
  const source = vmi.status?.nodeName ?? '';
  const others = nodes.filter(({ metadata }) => metadata?.name !== source);
  if (others.length === 0) {
    return (
      `it runs on node ${source}, and no other node is labelled ${SCHEDULABLE_SELECTOR}. ` +
      "Add a node, or see that virtflow's worker runs on another one"
    );
  }
  // As in the target Pod's own selector, what the VMI says wins.
  const wanted = Object.entries({ ...addedNodeSelector, ...nodeSelectors, ...vmi.spec.nodeSelector });
  const fits = ({ metadata }: Node): boolean => wanted.every(([key, value]) => metadata?.labels?.[key] === value);
  if (others.some(fits)) return undefined;
  const selector = wanted.map(([key, value]) => `${key}=${value}`).join(',');
  return (
    `no node other than ${source} has the labels ${selector}. Label one, ` +
    `or change ${addedNodeSelector === undefined ? "the VM's nodeSelector" : 'spec.addedNodeSelector'}`
  );
};
