import { compareQuantities } from '../../../api/kubernetes/quantity.ts';
import type { KernelBoot, VirtualMachineInstance, Volume } from '../../../api/kubevirt/types.ts';

/** What the manifest's parts ask of a VMI, each in KubeVirt's sense. */

/** vCPUs of the topology: the product of what is given; 0 when nothing is. */
export const vcpusOf = ({ spec }: VirtualMachineInstance): number => {
  const { cores = 0, sockets = 0, threads = 0 } = spec.domain.cpu ?? {};
  const given = [cores, sockets, threads].filter((count) => count > 0);
  return given.length === 0 ? 0 : given.reduce((product, count) => product * count, 1);
};

export const hasDedicatedCpus = ({ spec }: VirtualMachineInstance): boolean =>
  spec.domain.cpu?.dedicatedCpuPlacement === true;

/** The VMI's own requests equal its limits for CPU and memory: its helper containers follow suit. */
export const wantsGuaranteedQos = ({ spec }: VirtualMachineInstance): boolean => {
  const { requests = {}, limits = {} } = spec.domain.resources ?? {};
  const [memory, memoryLimit] = [amount(requests['memory']), amount(limits['memory'])];
  const [cpu, cpuLimit] = [amount(requests['cpu']), amount(limits['cpu'])];
  const memoryWants = isZero(memory) ? !isZero(memoryLimit) : compareQuantities(memory, memoryLimit) === 0;
  return memoryWants && !isZero(cpu) && compareQuantities(cpu, cpuLimit) === 0;
};

/** Requests and limits of every helper container are made equal. */
export const isGuaranteed = (vmi: VirtualMachineInstance): boolean => hasDedicatedCpus(vmi) || wantsGuaranteedQos(vmi);

/** A quantity of the spec; JSON may carry a plain number, absent counts as zero. */
export const amount = (quantity: string | number | undefined): string => String(quantity ?? '0');

export const isZero = (quantity: string | number | undefined): boolean =>
  compareQuantities(amount(quantity), '0') === 0;

/** Devices that map guest memory for DMA. */
export const hasVfio = ({ spec }: VirtualMachineInstance): boolean => {
  const { hostDevices = [], gpus = [], interfaces = [] } = spec.domain.devices;
  return hostDevices.length > 0 || gpus.length > 0 || interfaces.some(({ sriov }) => sriov !== undefined);
};

export const isSev = ({ spec }: VirtualMachineInstance): boolean =>
  spec.domain.launchSecurity?.sev !== undefined || spec.domain.launchSecurity?.snp !== undefined;

/** Image that kernel and initrd come from, if any. */
export const kernelBootImage = ({ spec }: VirtualMachineInstance): KernelBoot['container'] =>
  spec.domain.firmware?.kernelBoot?.container?.image ? spec.domain.firmware.kernelBoot.container : undefined;

/** SELinux level of the guest's files, '' while it is not known: `user:role:type:level`, the level may hold colons. */
export const selinuxLevelOf = ({ status }: VirtualMachineInstance): string =>
  (status?.selinuxContext ?? '').split(':').slice(3).join(':');

/** Seconds that a guest gets to shut down. */
export const gracePeriodOf = ({ spec }: VirtualMachineInstance): number => spec.terminationGracePeriodSeconds ?? 30;

/** Claim behind a volume (a DataVolume's claim carries its name). */
export const claimNameOf = (volume: Volume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ??
  volume.dataVolume?.name ??
  volume.ephemeral?.persistentVolumeClaim?.claimName;

/** Volumes that are attached to the running guest come in Pods of their own. */
export const isHotplugged = (volume: Volume, { status }: VirtualMachineInstance): boolean =>
  volume.persistentVolumeClaim?.hotpluggable === true ||
  volume.dataVolume?.hotpluggable === true ||
  (status?.volumeStatus ?? []).some(({ name, hotplugVolume }) => name === volume.name && hotplugVolume !== undefined);
