import type { PodSpec } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { CPU_FEATURE } from './node-selector.ts';

type Affinity = NonNullable<PodSpec['affinity']>;

const OBSOLETE_HOST_MODEL = 'node-labeller.kubevirt.io/obsolete-host-model';

/** The VMI's own affinity, narrowed: no node whose host model is obsolete or that has a CPU feature the guest must not see. */
export const podAffinity = ({ spec }: VirtualMachineInstance): Affinity | undefined => {
  const { model, features = [] } = spec.domain.cpu ?? {};
  const rejected = [
    ...(!model || model === 'host-model' ? [OBSOLETE_HOST_MODEL] : []),
    ...features.filter(({ policy }) => policy === 'forbid').map(({ name }) => `${CPU_FEATURE}${name}`),
  ];
  return rejected.length === 0 ? spec.affinity : withoutNodes(spec.affinity ?? {}, rejected);
};

/** Terms are alternatives, so that each must exclude the labels itself. */
const withoutNodes = (affinity: Affinity, labels: string[]): Affinity => {
  const excluded = labels.map((key) => ({ key, operator: 'DoesNotExist' }));
  const terms = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: (terms ?? [{}]).map((term) => ({
          ...term,
          matchExpressions: [...(term.matchExpressions ?? []), ...excluded],
        })),
      },
    },
  };
};
