/**
 * Where things lie inside a launcher Pod. Names of emptyDir volumes are part of the contract: the node worker reaches them on the host as
 * `/pods/<pod uid>/volumes/kubernetes.io~empty-dir/<volume>`.
 */
export const LAUNCHER_VOLUMES = {
  /** Command sockets; the directory that the node worker watches. */
  sockets: { name: 'sockets', path: '/var/run/kubevirt/sockets' },
  /** Launcher's memory across restarts: epoch, deadline, last report. Readable by the node worker after the Pod ended. */
  state: { name: 'state', path: '/var/run/virtflow-state' },
  /** HOME and XDG directories of libvirtd and QEMU; serial console and agent sockets. */
  libvirt: { name: 'libvirt-runtime', path: '/var/run/libvirt' },
  /** cloud-init images, PVC mount points, secrets. */
  private: { name: 'private', path: '/var/run/kubevirt-private' },
  /** qcow2 overlays and emptyDisks. */
  ephemeral: { name: 'ephemeral-disks', path: '/var/run/kubevirt-ephemeral-disks' },
  /** Read-only images, bind-mounted by the node worker: mounted HostToContainer. */
  containerDisks: { name: 'container-disks', path: '/var/run/kubevirt/container-disks' },
} as const;

/** Socket that the launcher listens on until it is ready, and the one that it is renamed to. */
export const INIT_SOCKET = 'launcher-init-sock';
export const COMMAND_SOCKET = 'launcher-sock';

/** File in the `state` volume with the last DomainReport (JSON), also after the Pod ended. */
export const LAST_REPORT_FILE = 'last-report.json';

/** Serial console of the guest: a unix socket, and a log beside it, both in the libvirt volume. */
export const SERIAL_SOCKET = `${LAUNCHER_VOLUMES.libvirt.path}/serial0.sock`;
export const SERIAL_LOG = `${LAUNCHER_VOLUMES.libvirt.path}/serial0.log`;

/** VNC server of the guest's display, and its USB redirection channels, in the libvirt volume. */
export const VNC_SOCKET = `${LAUNCHER_VOLUMES.libvirt.path}/vnc.sock`;
export const usbRedirectionSocket = (channel: number): string =>
  `${LAUNCHER_VOLUMES.libvirt.path}/usbredir${channel}.sock`;
/** The claim for what a guest keeps besides its disks; only Pods of guests that keep something have it. */
export const VM_STATE = { name: 'vm-state', path: `${LAUNCHER_VOLUMES.private.path}/vm-state` } as const;
/** What lies in it (KubeVirt's names): the TPM's state, what signed its certificates, and variables of EFI firmware. */
export const VM_STATE_DIRECTORIES = {
  tpm: `${VM_STATE.path}/swtpm`,
  tpmAuthority: `${VM_STATE.path}/swtpm-localca`,
  nvram: `${VM_STATE.path}/nvram`,
} as const;

/** Variables of EFI firmware, which go with the Pod, and those that outlive it. */
export const NVRAM_FILE = `${LAUNCHER_VOLUMES.libvirt.path}/nvram.fd`;
export const keptNvramFile = (instance: string): string => `${VM_STATE_DIRECTORIES.nvram}/${instance}_VARS.fd`;

/** Metrics of the host for the guest: a disk that is written anew again and again, and a socket that is asked. */
export const DOWNWARD_METRICS_DISK = `${LAUNCHER_VOLUMES.private.path}/downwardmetric-disk/vhostmd0`;
export const DOWNWARD_METRICS_SOCKET = `${LAUNCHER_VOLUMES.libvirt.path}/downwardmetrics.sock`;

/** A volume that is plugged into the running guest: a device, or with the ending ".img" a file. */
export const pluggedDisk = (volume: string): string => `/var/run/kubevirt/hotplug-disks/${volume}`;
/** The daemon of a file system that the guest shares with its Pod listens here. */
export const VIRTIOFS = { name: 'virtiofs-containers', path: '/var/run/kubevirt/virtiofs-containers' } as const;
export const virtiofsSocket = (filesystem: string): string => `${VIRTIOFS.path}/${filesystem}.sock`;

/** Log of passt, which connects a guest with the Pod's network. */
export const PASST_LOG = `${LAUNCHER_VOLUMES.libvirt.path}/passt.log`;

/** Uid and gid of launcher, libvirtd and QEMU (KubeVirt's number); the image has a passwd entry for it. */
export const LAUNCHER_UID = 107;

/** A PVC in filesystem mode is mounted here, its image is `disk.img` in it. */
export const volumeDirectory = (volume: string): string => `${LAUNCHER_VOLUMES.private.path}/vmi-disks/${volume}`;
/** A PVC in block mode is this device. */
export const blockDevice = (volume: string): string => `/dev/${volume}`;
/** A Secret or ConfigMap that a volume refers to is mounted here. */
export const secretDirectory = (volume: string): string => `${LAUNCHER_VOLUMES.private.path}/secret/${volume}`;
/** hostDisk: directory of the image on the node, mounted here. */
export const hostDiskDirectory = (volume: string): string => `${LAUNCHER_VOLUMES.private.path}/vmi-disks/${volume}`;
/** Secrets of a cloud-init volume; each may hold its key in one of two spellings (userdata or userData, networkdata or networkData). */
export const userDataDirectory = (volume: string): string => secretDirectory(`${volume}-udata`);
export const networkDataDirectory = (volume: string): string => secretDirectory(`${volume}-ndata`);
/** Container of the launcher Pod that holds the image of a containerDisk, or of kernelBoot, whose volume has a name of its own (KubeVirt's names). */
export const diskContainer = (volume: string): string => `volume${volume}`;
export const KERNEL_BOOT_VOLUME = 'kernel-boot-volume';
/** With the ImageVolume gate that container ends before `compute` starts, and the image is mounted here in `compute`. */
export const imageVolumeDirectory = (volume: string): string => `/var/run/kubevirt-image-volume/${volume}`;
/** Read-only image of a containerDisk. */
export const containerDiskImage = (volume: string): string => `${LAUNCHER_VOLUMES.containerDisks.path}/${volume}.img`;
/** Kernel and initrd of kernelBoot. */
export const KERNEL_IMAGE = `${LAUNCHER_VOLUMES.containerDisks.path}/kernel`;
export const INITRD_IMAGE = `${LAUNCHER_VOLUMES.containerDisks.path}/initrd`;
/** Writable overlay of a containerDisk or ephemeral volume. */
export const overlayImage = (volume: string): string => `${LAUNCHER_VOLUMES.ephemeral.path}/${volume}.qcow2`;
export const emptyDiskImage = (volume: string): string => `${LAUNCHER_VOLUMES.ephemeral.path}/empty-${volume}.qcow2`;
export const cloudInitImage = (volume: string): string => `${LAUNCHER_VOLUMES.private.path}/cloud-init-${volume}.iso`;
/** Image made of a ConfigMap, Secret, downwardAPI, ServiceAccount or sysprep volume. */
export const configImage = (volume: string): string => `${LAUNCHER_VOLUMES.private.path}/config-${volume}.iso`;

/** Names of devices in the Pod's network namespace (KubeVirt's, so that tools find them). */
export const TAP_DEVICE = 'tap0';
export const BRIDGE_DEVICE = 'k6t-eth0';

/** Environment of the launcher process. Set by the launcher Pod's manifest. */
export const LAUNCHER_ENV = {
  namespace: 'VIRTFLOW_VMI_NAMESPACE',
  name: 'VIRTFLOW_VMI_NAME',
  uid: 'VIRTFLOW_VMI_UID',
  podUid: 'VIRTFLOW_POD_UID',
  podName: 'POD_NAME',
  /** Seconds between SIGTERM and destroy: the VMI's grace period. */
  gracePeriod: 'VIRTFLOW_GRACE_PERIOD_SECONDS',
} as const;
