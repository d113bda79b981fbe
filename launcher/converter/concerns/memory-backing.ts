import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf } from '../architecture.ts';
import type { Concern } from '../concern.ts';
import { numaPages } from './numa.ts';

/** Annotation that keeps huge pages away from memfd ("false"). */
const MEMFD_ANNOTATION = 'kubevirt.io/memfd';

/** Huge pages are handed out through memfd, which libvirt grants to a NUMA cell only. */
export const usesMemfd = (vmi: VirtualMachineInstance): boolean =>
  architectureOf(vmi).hasMemfd &&
  vmi.spec.domain.memory?.hugepages !== undefined &&
  vmi.metadata?.annotations?.[MEMFD_ANNOTATION] !== 'false';

export const memoryBacking: Concern = (vmi, host) => {
  if (vmi.spec.domain.memory?.hugepages === undefined) return {};
  const page = numaPages(vmi, host);
  return {
    memoryBacking: {
      hugepages: page.length === 0 ? '' : { page },
      source: usesMemfd(vmi) ? { '@type': 'memfd' } : undefined,
      allocation: page.length === 0 ? undefined : { '@mode': 'immediate' },
    },
  };
};
