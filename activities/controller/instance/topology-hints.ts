import type { Node } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { SCHEDULABLE_LABEL } from '../../facts/labels.ts';
import type { KubePort } from '../../kube/port.ts';
import { TSC_FREQUENCY_LABEL, countsOnClock } from '../launch-manifest/index.ts';

/**
 * The frequency of the time stamp counter that a guest gets which counts on a constant one: the one that most nodes offer, of several the lowest, so that
 * it has somewhere to move to. Undefined: no node offers any. Pure.
 */
export const tscFrequency = (nodes: Pick<Node, 'metadata'>[]): number | undefined => {
  const offered = new Map<number, number>();
  for (const { metadata } of nodes) {
    for (const [label, value] of Object.entries(metadata?.labels ?? {})) {
      const frequency = label.startsWith(TSC_FREQUENCY_LABEL) ? Number(label.slice(TSC_FREQUENCY_LABEL.length)) : NaN;
      if (value === 'true' && frequency > 0) offered.set(frequency, (offered.get(frequency) ?? 0) + 1);
    }
  }
  const [best] = [...offered].sort(([a, many], [b, others]) => others - many || a - b);
  return best?.[0];
};

/**
 * The VMI with the frequency that its Pod and domain are made for, which is settled at its first start, on the object. Where no node offers one it starts
 * without, if a node has the CPU feature that it asks for, and cannot be migrated if that needs one.
 */
export const withTopologyHints = async (
  kube: Pick<KubePort, 'list' | 'mergePatch'>,
  vmi: VirtualMachineInstance,
): Promise<VirtualMachineInstance> => {
  if (!countsOnClock(vmi) || vmi.status?.topologyHints !== undefined) return vmi;
  const frequency = tscFrequency(await kube.list('Node', { labelSelector: `${SCHEDULABLE_LABEL}=true` }));
  if (frequency === undefined) return vmi;
  const { namespace = '', name = '', uid } = vmi.metadata ?? {};
  const status = { topologyHints: { tscFrequency: frequency } };
  await kube.mergePatch('VirtualMachineInstance', { namespace, name }, { metadata: { uid }, status });
  return { ...vmi, status: { ...vmi.status, ...status } };
};
