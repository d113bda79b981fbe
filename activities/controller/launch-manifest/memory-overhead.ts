import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { amount, hasVfio, isGuaranteed, isSev, vcpusOf } from './traits.ts';

const MIB = 1024 * 1024;

/** Resident sizes that KubeVirt 1.9 reckons with: monitor, launcher, logging daemon, libvirt daemon, QEMU without its guest. */
const FIXED_MIB = 25 + 100 + 25 + 40 + 50;
const PER_VCPU_MIB = 8;
const IO_THREAD_MIB = 8;
const VIDEO_MIB = 32;
/** Two flash images of 64 MiB. */
const ARM_FIRMWARE_MIB = 128;
/** MMIO space of devices that need guest memory locked. */
const VFIO_MIB = 1024;
const DOWNWARD_METRICS_MIB = 1;
const SEV_MIB = 256;
const TPM_MIB = 53;
const GUARANTEED_MIB = 100;
/** The passt process and its buffers; never scaled by the configured ratio. */
const PASST_MIB = 250;
/** Exec probes: once for the program, and once more per probe. */
const EXEC_PROBES_MIB = 100;
const EXEC_PROBE_MIB = 10;

/**
 * Bytes that a launcher Pod needs besides its guest's memory, by KubeVirt's formula, so that the same VMIs fit on the same nodes.
 * The page tables are reckoned from the *requested* memory, in whole kilobytes.
 */
export const memoryOverhead = (
  vmi: VirtualMachineInstance,
  config: Pick<ClusterConfig, 'additionalGuestMemoryOverheadRatio' | 'defaultArchitecture'>,
): number => {
  const { domain } = vmi.spec;
  const requested = quantityValue(amount(domain.resources?.requests?.['memory']));
  const pageTables = Math.trunc((Math.ceil(requested / 1000) * 1000) / 512);
  const reserved = quantityValue(amount(domain.memory?.reservedOverhead?.addedOverhead));
  const total = pageTables + mebibytes(vmi, config.defaultArchitecture) * MIB + reserved;
  const passt = domain.devices.interfaces?.some(({ passtBinding }) => passtBinding !== undefined) === true;
  return total + ratioAddition(total, config.additionalGuestMemoryOverheadRatio) + (passt ? PASST_MIB * MIB : 0);
};

const mebibytes = (vmi: VirtualMachineInstance, defaultArchitecture: string): number => {
  const { architecture, domain, volumes = [] } = vmi.spec;
  const { devices } = domain;
  const parts: [boolean, number][] = [
    [true, FIXED_MIB + IO_THREAD_MIB + PER_VCPU_MIB * Math.max(1, reckonedVcpus(vmi))],
    [devices.autoattachGraphicsDevice !== false, VIDEO_MIB],
    [(architecture || defaultArchitecture) === 'arm64', ARM_FIRMWARE_MIB],
    [hasVfio(vmi), VFIO_MIB],
    [volumes.some(({ downwardMetrics }) => downwardMetrics !== undefined), DOWNWARD_METRICS_MIB],
    [isSev(vmi), SEV_MIB],
    [devices.tpm !== undefined && devices.tpm.enabled !== false, TPM_MIB],
    [isGuaranteed(vmi), GUARANTEED_MIB],
  ];
  return parts.reduce((sum, [applies, size]) => (applies ? sum + size : sum), probesMebibytes(vmi));
};

/** Without a topology the CPU limit counts, then the request. */
const reckonedVcpus = (vmi: VirtualMachineInstance): number => {
  const { cpu, resources } = vmi.spec.domain;
  if (cpu !== undefined) return vcpusOf(vmi);
  return quantityValue(amount(resources?.limits?.['cpu'] ?? resources?.requests?.['cpu']));
};

const probesMebibytes = ({ spec }: VirtualMachineInstance): number => {
  const count = [spec.livenessProbe, spec.readinessProbe].filter((probe) => probe?.exec !== undefined).length;
  return count === 0 ? 0 : EXEC_PROBES_MIB + count * EXEC_PROBE_MIB;
};

const ratioAddition = (total: number, ratio: number | undefined): number =>
  ratio === undefined ? 0 : Math.trunc(Math.ceil(total / 1000) * (ratio - 1)) * 1000;
