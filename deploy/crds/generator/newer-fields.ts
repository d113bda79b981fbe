/**
 * Fields of KubeVirt's API that the types' package does not have: they are younger, or their type is one that its generator leaves out. Interfaces
 * bear the package's names and add to them. Types only, and read as text by the generator: nothing imports them.
 */

import type { V1LaunchSecurity } from '@kubevirt-ui-ext/kubevirt-api/kubevirt';

/** RFC 3339. */
type Time = string;
type Quantity = string;
type IntOrString = number | string;

export interface V1VirtualMachineCondition {
  lastProbeTime?: Time;
  lastTransitionTime?: Time;
}

export interface V1VirtualMachineInstanceCondition {
  lastProbeTime?: Time;
  lastTransitionTime?: Time;
}

export interface V1VirtualMachineInstanceMigrationCondition {
  lastProbeTime?: Time;
  lastTransitionTime?: Time;
}

export interface V1VirtualMachineInstanceReplicaSetCondition {
  lastProbeTime?: Time;
  lastTransitionTime?: Time;
}

export interface V1KubeVirtCondition {
  lastProbeTime?: Time;
  lastTransitionTime?: Time;
}

export interface K8sIoApiCoreV1HTTPGetAction {
  /** Number or name of the port. */
  port: IntOrString;
}

export interface K8sIoApiCoreV1TCPSocketAction {
  /** Number or name of the port. */
  port: IntOrString;
}

export interface V1VirtualMachineInstanceSpec {
  /** Service account of the launcher Pod. */
  serviceAccountName?: string;
}

export interface V1Interface {
  /** Ranges of ports to forward to the guest. */
  portRanges?: Array<V1PortRange>;
}

export interface V1PortRange {
  start: number;
  end: number;
  /** TCP or UDP. */
  protocol: string;
}

export interface V1Network {
  /** A request of one of the VMI's resource claims that stands for the network. */
  resourceClaim?: V1ClaimRequest;
}

export interface V1ClaimRequest {
  claimName?: string;
  requestName?: string;
}

export interface V1VirtualMachineInstanceBackupStatus {
  /** How freezing the guest's filesystems ended. */
  quiesceStatus?: string;
}

export interface V1alpha1BackupVolumeInfo {
  diskTarget?: string;
}

export interface V1KubeVirtConfiguration {
  persistentReservationConfiguration?: V1PersistentReservationConfiguration;
}

/** Persistent reservations of SCSI disks. */
export interface V1PersistentReservationConfiguration {
  enabled?: boolean;
}

export interface V1MigrationConfiguration {
  /** Longest pause of the guest at the end of a migration, in milliseconds. */
  maxDowntimeMs?: number;
}

export interface V1VirtualMachineInstanceMigrationState {
  /** The settings that the migration runs with: of the cluster, overlaid by the policy. */
  migrationConfiguration?: V1VMIMConfigurationOptions;
}

export interface V1alpha1MigrationPolicySpec {
  /** Longest pause of the guest at the end of a migration, in milliseconds. */
  maxDowntimeMs?: number;
  experimental?: V1ExperimentalMigrationOptions;
}

export interface V1VMIMConfigurationOptions {
  allowAutoConverge?: boolean;
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  /** Bytes per second. */
  bandwidthPerMigration?: Quantity;
  /** Seconds. */
  completionTimeoutPerGiB?: number;
  disableTLS?: boolean;
  experimental?: V1ExperimentalMigrationOptions;
  matchSELinuxLevelOnMigration?: boolean;
  maxDowntimeMs?: number;
  network?: string;
  nodeDrainTaintKey?: string;
  parallelMigrationsPerCluster?: number;
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds. */
  progressTimeout?: number;
  unsafeMigrationOverride?: boolean;
  /** Seconds. */
  utilityVolumesTimeout?: number;
}

export interface V1beta1VirtualMachinePreferenceSpec {
  /** Protection of the guest's memory from its host. */
  preferredLaunchSecurity?: V1LaunchSecurity;
}

/** Settings of migrations that may still change. */
export interface V1ExperimentalMigrationOptions {
  compression?: string;
  downtimeTuning?: V1DowntimeTuningOptions;
  stallDetector?: V1StallDetectorOptions;
}

export interface V1DowntimeTuningOptions {
  cooldownSeconds?: number;
  initialMs?: number;
  startAfterIteration?: number;
  steps?: number;
}

export interface V1StallDetectorOptions {
  completionTimeoutFactor?: Quantity;
  ewmaAlpha?: Quantity;
  patienceWindowDecayFactor?: Quantity;
  precopyPossibleFactor?: Quantity;
  searchLocalMinima?: boolean;
  stallMargin?: number;
  stallProgressTimeout?: number;
  switchoverTimeout?: number;
}
