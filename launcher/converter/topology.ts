import { quantityValue } from '../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';

export interface CpuTopology {
  sockets: number;
  cores: number;
  threads: number;
}

/** The topology that the guest starts with: the spec's, else one socket per CPU of the limit or request. */
export function cpuTopology(vmi: VirtualMachineInstance): CpuTopology {
  const { cpu, resources } = vmi.spec.domain;
  const { sockets, cores, threads } = cpu ?? {};
  if (sockets || cores || threads) return { sockets: sockets || 1, cores: cores || 1, threads: threads || 1 };
  const cpus = resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'];
  return { sockets: cpus === undefined ? 1 : quantityValue(cpus), cores: 1, threads: 1 };
}

export const vcpusOf = ({ sockets, cores, threads }: CpuTopology): number => sockets * cores * threads;

/** Number of vCPUs that the guest starts with. */
export const vcpuCount = (vmi: VirtualMachineInstance): number => vcpusOf(cpuTopology(vmi));
