import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import { refOf } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import { mergePatchOf, replacing, sameJson } from '../merge-patch.ts';
import { ifStillThere } from '../races.ts';
import { expandedVirtualMachine } from './instance-types.ts';
import { fieldsForRestart, PLACEMENT } from './restart-required.ts';
import { GENERATION_ANNOTATION, startedSpec } from './revisions.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';

/** How a VM's instance stands to the VM's template. */
export interface Followed {
  /** Generation of the VM that the instance stands for; undefined: unknown. */
  generation?: number;
  /** Fields that need a restart; empty: none. */
  fieldsForRestart: string[];
}

/** Annotations that a running VMI takes over from the template: what a descheduler asks. */
const DYNAMIC_ANNOTATIONS = [
  'descheduler.alpha.kubernetes.io/evict',
  'descheduler.alpha.kubernetes.io/prefer-no-eviction',
];

const generationOf = ({ metadata }: VirtualMachineInstance): number | undefined => {
  const noted = Number(metadata?.annotations?.[GENERATION_ANNOTATION] ?? NaN);
  return Number.isInteger(noted) ? noted : undefined;
};

/**
 * Compares the VM with what its instance was started with, once per generation of the VM: what a running guest takes is written to the VMI, everything
 * else needs a restart. A VM whose template is as it was (another run strategy, say) is noted on the VMI and never looked at again.
 */
export const followTemplate = async (
  kube: KubePort,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): Promise<Followed> => {
  const noted = generationOf(vmi);
  const known: Followed = { ...(noted === undefined ? {} : { generation: noted }), fieldsForRestart: [] };
  const { generation = 0 } = vm.metadata ?? {};
  if (noted === generation || isFinal(vmi.status?.phase) || vmi.metadata?.deletionTimestamp !== undefined) return known;
  const started = await startedSpec(kube, vmi);
  if (started === undefined) return known;
  const takesPlacement = config.vmRolloutStrategy === 'LiveUpdate' && isTrue(vmi, 'LiveMigratable');
  const [before, now] = await Promise.all([
    expandedVirtualMachine(kube, { ...(vm.metadata === undefined ? {} : { metadata: vm.metadata }), spec: started }),
    expandedVirtualMachine(kube, vm),
  ]);
  if (before === undefined || now === undefined) return known;
  const fields = fieldsForRestart(before.spec, now.spec, vmi, takesPlacement);
  const isSame = sameJson(before.spec.template, now.spec.template);
  const patch = mergePatchOf(vmi, {
    metadata: {
      annotations: { ...annotationsOf(now), ...(isSame ? { [GENERATION_ANNOTATION]: `${generation}` } : {}) },
    },
    ...(takesPlacement && fields.length === 0 ? { spec: placementOf(now, vmi) } : {}),
  });
  if (patch !== undefined) {
    const metadata = { ...(patch['metadata'] as object | undefined), uid: vmi.metadata?.uid };
    await ifStillThere(kube.mergePatch('VirtualMachineInstance', refOf(vmi), { ...patch, metadata }));
  }
  return isSame ? { generation, fieldsForRestart: [] } : { ...known, fieldsForRestart: fields };
};

const annotationsOf = ({ spec }: VirtualMachine): Record<string, string | null> =>
  Object.fromEntries(DYNAMIC_ANNOTATIONS.map((key) => [key, spec.template.metadata?.annotations?.[key] ?? null]));

const placementOf = (vm: VirtualMachine, vmi: VirtualMachineInstance): Record<string, unknown> =>
  Object.fromEntries(
    PLACEMENT.map((field) => {
      const wanted = vm.spec.template.spec?.[field];
      if (wanted === undefined) return [field, null];
      return [field, Array.isArray(wanted) ? wanted : replacing(vmi.spec[field], wanted)];
    }),
  );
