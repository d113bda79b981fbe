import { quantityFloor } from '../../../api/kubernetes/quantity.ts';
import type { HostFacts } from '../../../api/launcher/host-facts.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Concern } from '../concern.ts';
import { cpuPins, passesNumaThrough } from '../cpu-pins.ts';
import type { MemoryBacking, NumaCell } from '../domain.ts';
import { ConversionError } from '../errors.ts';
import { guestMemory } from './memory.ts';

interface CellPlan {
  host: number;
  vcpus: number[];
  bytes: number;
}

/** The host cells that the guest's vCPUs sit on, with their share of its memory in whole huge pages. Empty without pass-through. */
function plan(vmi: VirtualMachineInstance, host: HostFacts): CellPlan[] {
  const pins = passesNumaThrough(vmi) ? cpuPins(vmi, host) : undefined;
  const cells = (host.numaCells ?? []).map(({ id, cpus }) => ({
    host: id,
    vcpus: (pins?.vcpus ?? []).flatMap((pinned, vcpu) => (cpus.some((cpu) => cpu.id === pinned) ? [vcpu] : [])),
  }));
  const used = cells.filter(({ vcpus }) => vcpus.length > 0);
  const shares = memoryShares(vmi, used.length);
  return used.map((cell, index) => ({ ...cell, bytes: shares[index] ?? 0 }));
}

/** Divides the guest's memory; the first cells get the pages that are left over. */
function memoryShares(vmi: VirtualMachineInstance, cells: number): number[] {
  if (cells === 0) return [];
  const page = pageSize(vmi);
  const pages = quantityFloor(guestMemory(vmi)) / page;
  if (!Number.isInteger(pages) || pages < cells)
    throw new ConversionError(
      'spec.domain.memory.guest',
      `must be a multiple of the page size, with a page for each of ${cells} NUMA cells`,
    );
  return Array.from(
    { length: cells },
    (_, index) => page * (Math.floor(pages / cells) + (index < pages % cells ? 1 : 0)),
  );
}

function pageSize(vmi: VirtualMachineInstance): number {
  const size = vmi.spec.domain.memory?.hugepages?.pageSize;
  if (size === undefined)
    throw new ConversionError('spec.domain.memory.hugepages', 'is required for numa.guestMappingPassthrough');
  return quantityFloor(size);
}

export const numaCells = (vmi: VirtualMachineInstance, host: HostFacts): NumaCell[] =>
  plan(vmi, host).map(({ vcpus, bytes }, index) => ({
    '@id': index,
    '@cpus': vcpus.join(','),
    '@memory': bytes,
    '@unit': 'b',
  }));

/** Huge pages of each guest cell, for the memory backing. */
export const numaPages = (
  vmi: VirtualMachineInstance,
  host: HostFacts,
): Extract<MemoryBacking['hugepages'], object>['page'] =>
  plan(vmi, host).map((_, index) => ({ '@size': pageSize(vmi), '@unit': 'b', '@nodeset': index }));

/** Binds each guest cell's memory to the host cell that its vCPUs sit on. */
export const numa: Concern = (vmi, host) => {
  const cells = plan(vmi, host);
  if (cells.length === 0) return {};
  return {
    numatune: {
      memory: { '@mode': 'strict', '@nodeset': cells.map((cell) => cell.host).join(',') },
      memnode: cells.map((cell, index) => ({ '@cellid': index, '@mode': 'strict', '@nodeset': cell.host })),
    },
  };
};
