import { quantityFloor } from '../../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf } from '../architecture.ts';
import { given, yesNo, type Concern } from '../concern.ts';
import type { Cpu, NumaCell, VcpuState } from '../domain.ts';
import { cpuTopology, vcpusOf, type CpuTopology } from '../topology.ts';
import { usesMemfd } from './memory-backing.ts';
import { guestMemory } from './memory.ts';
import { numaCells } from './numa.ts';

const HOST_MODES = ['host-model', 'host-passthrough'];
const isHostMode = (model: string): model is 'host-model' | 'host-passthrough' => HOST_MODES.includes(model);

/** The topology with the sockets that may be plugged in later. */
function largestTopology(vmi: VirtualMachineInstance): CpuTopology {
  const maxSockets = vmi.spec.domain.cpu?.maxSockets;
  const topology = cpuTopology(vmi);
  return maxSockets && architectureOf(vmi).hasCpuHotplug ? { ...topology, sockets: maxSockets } : topology;
}

/** Every possible vCPU: the first socket is there for good, the others can come and go. */
function vcpuStates(vmi: VirtualMachineInstance): VcpuState[] {
  const start = cpuTopology(vmi);
  return Array.from({ length: vcpusOf(largestTopology(vmi)) }, (_, id) => ({
    '@id': id,
    '@enabled': yesNo(id < vcpusOf(start)),
    '@hotpluggable': yesNo(id >= start.cores * start.threads),
  }));
}

const modelName = (vmi: VirtualMachineInstance): string => vmi.spec.domain.cpu?.model || 'host-model';

function model(vmi: VirtualMachineInstance): Pick<Cpu, '@mode' | 'model'> {
  const name = modelName(vmi);
  return isHostMode(name) ? { '@mode': name } : { '@mode': 'custom', model: name };
}

function features(vmi: VirtualMachineInstance): Cpu['feature'] {
  const asked = (vmi.spec.domain.cpu?.features ?? []).map(({ name, policy }) => ({
    '@name': name,
    '@policy': given(policy),
  }));
  const dropMpx =
    architectureOf(vmi).retiresMpx &&
    !isHostMode(modelName(vmi)) &&
    !asked.some((feature) => feature['@name'] === 'mpx');
  return dropMpx ? [...asked, { '@name': 'mpx', '@policy': 'disable' }] : asked;
}

/** Cells of a passed-through NUMA topology, or the single cell that memfd needs. */
function cells(vmi: VirtualMachineInstance, vcpus: number, passedThrough: NumaCell[]): NumaCell[] {
  if (passedThrough.length > 0) return passedThrough;
  if (!usesMemfd(vmi)) return [];
  const kibibytes = Math.floor(quantityFloor(guestMemory(vmi)) / 1024);
  return [{ '@id': 0, '@cpus': `0-${vcpus - 1}`, '@memory': kibibytes, '@unit': 'KiB' }];
}

/** CPU model, features, topology, and which vCPUs are there from the start. */
export const cpu: Concern = (vmi, host) => {
  const largest = largestTopology(vmi);
  const vcpus = vcpusOf(largest);
  const cell = cells(vmi, vcpus, numaCells(vmi, host));
  const hotplug = vmi.spec.domain.cpu?.maxSockets && architectureOf(vmi).hasCpuHotplug;
  return {
    vcpu: { '@placement': 'static', '#text': vcpus },
    vcpus: hotplug ? { vcpu: vcpuStates(vmi) } : undefined,
    cpu: {
      ...model(vmi),
      topology: { '@sockets': largest.sockets, '@cores': largest.cores, '@threads': largest.threads },
      feature: features(vmi),
      numa: cell.length === 0 ? undefined : { cell },
    },
  };
};
