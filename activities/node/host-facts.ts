import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import type { PersistentVolumeClaim } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';

/** What was seen of the launcher's container. */
export interface LauncherSight {
  kvm: boolean;
  cpus: number[];
  /** Absent: no network. */
  mtu?: number;
  /** Formats of image files, by volume. */
  backingFormats: NonNullable<HostFacts['backingFormats']>;
}

/** What the converter must know besides the VMI. */
export const hostFacts = (
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  claims: Record<string, PersistentVolumeClaim>,
  { kvm, cpus, mtu, backingFormats }: LauncherSight,
): HostFacts => ({
  useEmulation: config.useEmulation,
  kvmAvailable: kvm,
  memBalloonStatsPeriod: config.memBalloonStatsPeriod,
  serialConsoleLog: config.virtualMachineOptions.serialConsoleLog,
  freePageReporting: config.virtualMachineOptions.freePageReporting,
  bochsForEFIGuests: true,
  cpuSet: cpus,
  isBlockVolume: Object.fromEntries(
    Object.entries(claims).map(([volume, claim]) => [volume, claim.spec?.volumeMode === 'Block']),
  ),
  domainAttachment: Object.fromEntries(
    (vmi.spec.domain.devices.interfaces ?? []).map(({ name, sriov }) => [name, sriov === undefined ? 'tap' : 'none']),
  ),
  backingFormats,
  smbios: config.smbios,
  ...(mtu === undefined ? {} : { mtu }),
});

/** `0-2,5` → [0, 1, 2, 5]: the kernel's list format (Cpus_allowed_list of /proc/<pid>/status). */
export const parseCpuList = (list: string): number[] =>
  list
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, n) => first + n);
    });
