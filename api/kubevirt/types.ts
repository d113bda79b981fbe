/** Types of the kubevirt.io/v1 objects, from the package that is generated out of KubeVirt's OpenAPI document. Types only: nothing is loaded at run time. */
export type {
  V1VirtualMachine as VirtualMachine,
  V1VirtualMachineSpec as VirtualMachineSpec,
  V1VirtualMachineStatus as VirtualMachineStatus,
  V1VirtualMachineCondition as VirtualMachineCondition,
  V1VirtualMachineStateChangeRequest as StateChangeRequest,
  V1VirtualMachineInstance as VirtualMachineInstance,
  V1VirtualMachineInstanceSpec as VirtualMachineInstanceSpec,
  V1VirtualMachineInstanceStatus as VirtualMachineInstanceStatus,
  V1VirtualMachineInstanceCondition as VirtualMachineInstanceCondition,
  V1VirtualMachineInstanceMigration as VirtualMachineInstanceMigration,
  V1VirtualMachineInstanceMigrationState as MigrationState,
  V1VirtualMachineInstanceNetworkInterface as InstanceInterfaceStatus,
  V1VirtualMachineInstanceGuestOSInfo as GuestOSInfo,
  V1VirtualMachineInstanceGuestAgentInfo as GuestAgentInfo,
  V1VirtualMachineInstanceGuestOSUser as GuestUser,
  V1VirtualMachineInstanceFileSystem as FileSystem,
  V1VirtualMachineInstanceReplicaSet as VirtualMachineInstanceReplicaSet,
  V1KubeVirt as KubeVirt,
  V1KubeVirtConfiguration as KubeVirtConfiguration,
  V1DomainSpec as DomainSpec,
  V1Devices as Devices,
  V1Disk as Disk,
  V1Volume as Volume,
  V1VolumeStatus as VolumeStatus,
  V1Interface as Interface,
  V1Network as Network,
  V1CPU as CPU,
  V1Memory as Memory,
  V1Features as Features,
  V1Firmware as Firmware,
  V1Clock as Clock,
  V1KernelBoot as KernelBoot,
  V1Probe as Probe,
} from '@kubevirt-ui-ext/kubevirt-api/kubevirt';
/** CDI's, which fills claims; served where CDI is installed. */
export type {
  V1beta1DataSource as DataSource,
  V1beta1DataVolume as DataVolume,
} from '@kubevirt-ui-ext/kubevirt-api/containerized-data-importer';

/** The API group and version that virtflow serves. */
export const KUBEVIRT_API_VERSION = 'kubevirt.io/v1';
