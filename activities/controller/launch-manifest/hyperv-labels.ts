import type { Features } from '../../../api/kubevirt/types.ts';

const HYPERV = 'hyperv.node.kubevirt.io/';

/** Enlightenments that depend on the node's kernel; the others are QEMU's own. */
const OF_THE_KERNEL = [
  'vpindex',
  'runtime',
  'reset',
  'synic',
  'synictimer',
  'frequencies',
  'reenlightenment',
  'tlbflush',
  'ipi',
] as const;

/** Node labels for the enlightenments that are on. Nested virtualisation (evmcs) needs an Intel node, also when only mentioned. */
export const hypervLabels = (hyperv: Features['hyperv']): string[] => {
  if (hyperv === undefined) return [];
  return [
    ...OF_THE_KERNEL.filter((feature) => hyperv[feature]?.enabled === true).map((feature) => `${HYPERV}${feature}`),
    ...(hyperv.evmcs !== undefined && hyperv.evmcs.enabled !== false ? ['cpu-vendor.node.kubevirt.io/Intel'] : []),
  ];
};
