import type { Node } from '../../api/kubernetes/types.ts';

/** Kubernetes' word for "this node is down and will not come back by itself". */
export const FENCE_TAINT = 'node.kubernetes.io/out-of-service';

/** Evidence (d): whoever set the out-of-service taint vouches that the node runs nothing. */
export const isFenced = (node: Node): boolean => node.spec?.taints?.some(({ key }) => key === FENCE_TAINT) ?? false;
