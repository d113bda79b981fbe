/**
 * The closed set of failure types. Only activities create them (as ApplicationFailure with this `type`); workflows and the CLI read them.
 * Whatever has no type here is a surprise and stays retryable.
 */
export const FAILURES = {
  /** The object's spec cannot work; the message names the field. */
  InvalidSpec: { retryable: false },
  /** The object is gone or another one stands under its name. */
  ObjectGone: { retryable: false },
  /** The API server refused an object of ours for good (PodSecurity, admission); the message carries its reason and the remedy. */
  Forbidden: { retryable: false },
  /** The API server says that virtflow's role lacks a permission. It also says so for a moment after its own start, before it has read the roles. */
  NotAuthorized: { retryable: true },
  /** The instance type that a VM refers to does not exist, or cannot be read. */
  InstancetypeNotFound: { retryable: true },
  /** The preference that a VM refers to does not exist, or cannot be read. */
  PreferenceNotFound: { retryable: true },
  /** A ResourceQuota leaves no room for the launcher Pod. */
  QuotaExceeded: { retryable: true },
  /** A PVC or DataVolume does not exist. */
  VolumeNotFound: { retryable: true },
  /** A PVC or DataVolume exists and is not ready (unbound, being filled, being deleted). */
  VolumeNotReady: { retryable: true },
  /** The content of a DataVolume could not be brought in. */
  VolumeFailed: { retryable: false },
  /** A NetworkAttachmentDefinition does not exist. */
  NetworkNotFound: { retryable: true },
  /** The image of a container disk or kernel boot lacks the file that the spec names. */
  ImageContent: { retryable: false },
  /** Another VMI or Pod holds the run token and is not proven gone. */
  TokenHeld: { retryable: true },
  /** The activity carries an older epoch than the run token: somebody else took over. */
  StaleToken: { retryable: false },
  /** The launcher does not answer on its command socket. */
  LauncherUnreachable: { retryable: true },
  /** The launcher is of a release that does not know the command. */
  LauncherTooOld: { retryable: false },
  /** libvirt or QEMU refused; the message is libvirt's. */
  DomainFailed: { retryable: true },
  /** libvirt refused the domain's definition: the same spec will be refused again. */
  DomainRejected: { retryable: false },
  /** The domain is still there although it should be gone. */
  StillRunning: { retryable: true },
  /** Nothing proves that the domain is gone, and nothing proves that it runs. */
  Unproven: { retryable: true },
  /** No worker polls the queue of a node: the activity was not taken. */
  NoWorker: { retryable: true },
  /** The launcher Pod is not ready yet and says why (unschedulable, image cannot be pulled). */
  PodNotReady: { retryable: true },
  /** The operation's deadline passed. */
  DeadlineExceeded: { retryable: false },
  /** The launcher Pod ended before the domain ran. */
  PodFailed: { retryable: false },
  /** The VMI cannot be migrated: as its conditions LiveMigratable or StorageLiveMigratable say, or because it does not run. */
  NotMigratable: { retryable: false },
  /** Another operation of the VMI is under way; a migration does not wait for it. */
  OperationUnderWay: { retryable: false },
  /** The migration ended and the source runs on; the message says why. */
  MigrationFailed: { retryable: false },
  /** Neither source nor target is proven to hold the guest: nothing is deleted until it is known. */
  MigrationOutcomeUnknown: { retryable: true },
  /** The node worker of another node does not answer, or cannot be trusted (certificate). */
  PeerUnreachable: { retryable: true },
  /** The node is fenced: whatever runs there counts as gone, so nothing is started there. */
  NodeFenced: { retryable: true },
  /** What another service asked for cannot be done as the VM stands; the message says why. */
  Refused: { retryable: false },
  /** The operation was cancelled by its entity (a stop during a start). */
  Cancelled: { retryable: false },
} as const;

export type FailureType = keyof typeof FAILURES;

export const isFailureType = (type: string | null | undefined): type is FailureType => type != null && type in FAILURES;

/** Reasons of a VM's condition Failure that KubeVirt's tools look for, where they say more than which step failed. */
export const FAILURE_REASONS: Partial<Record<FailureType | 'Unknown', string>> = {
  InstancetypeNotFound: 'FailedFindInstancetype',
  PreferenceNotFound: 'FailedFindPreference',
};

/** A failure as it is carried in workflow state, results and conditions. */
export interface FailureInfo {
  type: FailureType | 'Unknown';
  message: string;
}
