/** What the converter must know of the host and the cluster's configuration, besides the VMI. Gathered by the node worker. */
export interface HostFacts {
  /** `developerConfiguration.useEmulation`: run without KVM. */
  useEmulation: boolean;
  /** /dev/kvm is in the launcher's container. */
  kvmAvailable: boolean;
  /** Statistics period of the balloon in seconds; 0 turns it off. */
  memBalloonStatsPeriod: number;
  /** Write the serial console to a log beside its socket. */
  serialConsoleLog: boolean;
  freePageReporting: boolean;
  bochsForEFIGuests: boolean;
  /** Host CPUs that the launcher's cpuset holds, for dedicated CPU placement. */
  cpuSet: number[];
  /** Per volume with a PVC: block or filesystem mode. Absent: filesystem. */
  isBlockVolume: Record<string, boolean>;
  /** Per interface: how it is attached to the domain. */
  domainAttachment: Record<string, 'tap' | 'managedTap' | 'none'>;
  /** MTU of the Pod's interface; absent: libvirt's default. */
  mtu?: number;
  /** Per interface without macAddress in the spec: what the network set-up chose (bridge: the Pod's own). Absent: libvirt makes one up. */
  macAddresses?: Record<string, string>;
  /** Per containerDisk and ephemeral volume: format of the read-only image. Absent: as the overlay's header says. */
  backingFormats?: Record<string, 'raw' | 'qcow2'>;
  /** NUMA cells of the host with their CPUs, for dedicated CPU placement. */
  numaCells?: HostNumaCell[];
  /** `smbios` of the KubeVirt object: what the guest's firmware tables say of the machine. Absent fields: KubeVirt's values. */
  smbios?: { manufacturer?: string; family?: string; product?: string; sku?: string; version?: string };
}

/** A NUMA cell of the host; `siblings` are the hardware threads of the CPU's core, itself included. */
export interface HostNumaCell {
  id: number;
  cpus: { id: number; siblings: number[] }[];
}

/** Protocol number that this release speaks. */
export const LAUNCHER_PROTOCOL = 3;
/** First protocol with live migration. */
export const MIGRATION_PROTOCOL = 2;
/** First protocol with what the subresource API asks of a guest: reset, reboot, freeze for a time, screenshot. */
export const GUEST_PROTOCOL = 3;
