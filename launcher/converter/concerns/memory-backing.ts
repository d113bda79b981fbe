import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf } from '../architecture.ts';
import type { Concern } from '../concern.ts';
import { sharesMemory } from '../shared-memory.ts';
import { numaPages } from './numa.ts';

/** Annotation that keeps huge pages away from memfd ("false"). */
const MEMFD_ANNOTATION = 'kubevirt.io/memfd';

const hasHugepages = ({ spec }: VirtualMachineInstance): boolean => spec.domain.memory?.hugepages !== undefined;

/** Huge pages, and memory that other processes map, are handed out through memfd, which libvirt grants to a NUMA cell only. */
export const usesMemfd = (vmi: VirtualMachineInstance): boolean =>
  architectureOf(vmi).hasMemfd &&
  (sharesMemory(vmi) || (hasHugepages(vmi) && vmi.metadata?.annotations?.[MEMFD_ANNOTATION] !== 'false'));

export const memoryBacking: Concern = (vmi, host) => {
  if (!hasHugepages(vmi) && !sharesMemory(vmi)) return {};
  const page = numaPages(vmi, host);
  return {
    memoryBacking: {
      hugepages: !hasHugepages(vmi) ? undefined : page.length === 0 ? '' : { page },
      source: usesMemfd(vmi) ? { '@type': 'memfd' } : undefined,
      access: sharesMemory(vmi) ? { '@mode': 'shared' } : undefined,
      allocation: page.length === 0 ? undefined : { '@mode': 'immediate' },
    },
  };
};
