import type { ClusterConfig } from '../cluster-config/index.ts';
import { quantityValue } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

/** Without a topology: one socket per CPU of the limit, else of the request, else one. */
export const completeCpuTopology = ({ domain }: VirtualMachineInstanceSpec): void => {
  const cpu = (domain.cpu ??= {});
  if (cpu.cores || cpu.sockets || cpu.threads) return;
  const cpus = domain.resources?.limits?.['cpu'] ?? domain.resources?.requests?.['cpu'];
  Object.assign(cpu, { sockets: cpus === undefined ? 1 : quantityValue(String(cpus)), cores: 1, threads: 1 });
};

export const completeCpuModel = ({ domain }: VirtualMachineInstanceSpec, { cpuModel }: ClusterConfig): void => {
  const cpu = (domain.cpu ??= {});
  cpu.model ||= cpuModel ?? 'host-model';
};
