/**
 * State of a domain, as its launcher knows it. `none`: never defined in this launcher, or undefined after its end. `incoming`: a migration brings it,
 * and its guest does not run here (yet).
 */
export const DOMAIN_STATES = [
  'none',
  'starting',
  'incoming',
  'running',
  'paused',
  'shuttingDown',
  'shutoff',
  'crashed',
] as const;
export type DomainState = (typeof DOMAIN_STATES)[number];

/** What made the domain end. `migrated`: here only; its guest has gone elsewhere, so the end of this domain is not the guest's. */
export const DOMAIN_ENDS = [
  'agentShutdown',
  'acpiShutdown',
  'guestShutdown',
  'destroyedAtDeadline',
  'killed',
  'crashed',
  'migrated',
  'unknown',
] as const;
export type DomainEnd = (typeof DOMAIN_ENDS)[number];

/** What the guest agent tells of its guest. */
export interface GuestInfo {
  connected: boolean;
  version?: string;
  /** Commands that it should know and does not, or that are switched off there. */
  missingCommands?: string[];
  hostname?: string;
  timezone?: string;
  os?: {
    id?: string;
    name?: string;
    prettyName?: string;
    version?: string;
    versionId?: string;
    kernelRelease?: string;
    kernelVersion?: string;
    machine?: string;
  };
  interfaces?: { name: string; mac?: string; addresses: string[] }[];
  /** Its file systems hold writes back; absent: they do not. */
  fsFreezeStatus?: 'frozen';
}

/** What libvirt made of the domain: the same for as long as it lives in this Pod. */
export interface DomainHardware {
  /** Machine type with its version: "pc-q35-7.2". */
  machine?: string;
  /** Current memory, in bytes. */
  memoryBytes?: number;
  /** By name of the disk: its name in the guest ("vda"), and bytes of an image that the launcher has made. */
  disks?: Record<string, { target: string; size?: number }>;
  /** By name of the interface. */
  interfaces?: Record<string, { mac?: string; queues?: number; link?: string }>;
  /** SELinux context of the launcher; "none" without SELinux. */
  selinuxContext?: string;
}

/** One report of a launcher: the whole state each time, so that the newest replaces all older ones. */
export interface DomainReport {
  vmi: { namespace: string; name: string; uid: string };
  podUid: string;
  /** Filled in by the node worker. */
  node: string;
  /** Launcher's start count and running number within it: ordered, never reused. */
  sequence: { epoch: number; n: number };
  /** When the launcher saw it; RFC 3339. */
  at: string;
  state: DomainState;
  /** libvirt's own words for why, e.g. "paused: I/O error". */
  reason?: string;
  /** Paused: by whom. Absent: by a user. */
  pausedBy?: 'user' | 'ioError' | 'migration';
  /** Uid of the migration that brought the domain here, takes it away, or took it away. */
  migrationUid?: string;
  end?: DomainEnd;
  /** Epoch of the run token under which the domain started. */
  tokenEpoch?: number;
  /** While shutting down: when it is destroyed at the latest; RFC 3339. */
  deadline?: string;
  agent: GuestInfo;
  /** Absent while there is no domain, and from launchers of older releases. */
  hardware?: DomainHardware;
}

/** True if `a` is newer than `b` (or there is no `b`). */
export const isNewer = (
  a: Pick<DomainReport, 'podUid' | 'sequence'>,
  b: Pick<DomainReport, 'podUid' | 'sequence'> | undefined,
): boolean =>
  b === undefined ||
  a.podUid !== b.podUid ||
  a.sequence.epoch > b.sequence.epoch ||
  (a.sequence.epoch === b.sequence.epoch && a.sequence.n > b.sequence.n);
