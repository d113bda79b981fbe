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
}

/** Protocol number that this release speaks. */
export const LAUNCHER_PROTOCOL = 1;
