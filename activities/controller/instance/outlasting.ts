import { SCHEDULABLE_LABEL } from '../../../api/contract/nodes.ts';
import type { Pod, PodSpec } from '../../../api/kubernetes/types.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Kubernetes' taints of a node that it does not hear of. Pods that do not say how long they bear them are deleted after 300 s. */
const SILENT = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * A launcher Pod that outlasts the silence of its node: that a node is not heard of is no reason to end a guest once it is (virtflow waits for a fence
 * instead). It bears the taints of a silent node; what the VMI says of these itself stands. And it does not select by the label that changes with
 * silence: a kubelet that restarts ends Pods whose node selector does not hold any more.
 */
export const outlastingSilence = (manifest: Pod): Pod => {
  const { spec } = manifest;
  if (spec === undefined) return manifest;
  const own = spec.tolerations ?? [];
  const added = SILENT.filter((key) => !own.some((toleration) => covers(toleration, key))).map((key) => ({
    ...{ key, operator: 'Exists', effect: 'NoExecute' },
  }));
  const { [SCHEDULABLE_LABEL]: _, ...nodeSelector } = spec.nodeSelector ?? {};
  return { ...manifest, spec: { ...spec, nodeSelector, tolerations: [...own, ...added] } };
};

const covers = ({ key, effect }: Toleration, taint: string): boolean =>
  (key === taint || key === undefined || key === '') &&
  (effect === undefined || effect === '' || effect === 'NoExecute');
