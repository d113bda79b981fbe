import type { HostFacts } from './host-facts.ts';
import { LAUNCHER_VOLUMES } from './paths.ts';

/**
 * Live migration as launchers know it: what goes through the JSON of the migration commands. A migration is named by the uid of its VMIM; a launcher
 * never carries out the same uid twice, and remembers across its restarts what it did.
 */

/** What connects the two Pods of a migration: libvirt's control connection, QEMU's memory, the copy of disks that are not shared. */
export const MIGRATION_CHANNELS = ['libvirt', 'memory', 'block'] as const;
export type MigrationChannel = (typeof MIGRATION_CHANNELS)[number];

/**
 * Socket of a channel, as a path inside the Pod; the same in both Pods. In the source's Pod the node worker listens there, in the target's Pod
 * QEMU does (memory, block); the target's libvirt listens where PrepareTargetReply says.
 */
export const migrationSocket = (channel: MigrationChannel): string =>
  `${LAUNCHER_VOLUMES.sockets.path}/mig-${channel}.sock`;

/** How a migration is to be run: the cluster's configuration and policies, worked out. */
export interface MigrationOptions {
  /** Name of the MigrationPolicy that some of them come from; for people. */
  policy?: string;
  /** Bytes per second; absent: unlimited. */
  bandwidth?: number;
  /** Seconds per GiB of memory and copied disks that the whole may take. */
  completionTimeoutPerGiB: number;
  /** Seconds without progress after which it is given up. */
  progressTimeout: number;
  /** Milliseconds of downtime that QEMU aims at; absent: its own default. */
  maxDowntimeMs?: number;
  allowAutoConverge: boolean;
  allowPostCopy: boolean;
  /** When the time is over: pause the guest, so that it converges. */
  allowWorkloadDisruption: boolean;
  /** Do not refuse disks that libvirt cannot prove to be shared. */
  unsafe: boolean;
}

/** PrepareMigrationTarget: directories, overlays and empty disks, libvirt listening. Safe to repeat. */
export interface PrepareTargetRequest {
  migrationUid: string;
  /** Epoch of the run token under which the source runs: the target may hold the domain only by a migration from there. */
  tokenEpoch: number;
  /** The VirtualMachineInstance with all defaults filled in. */
  vmi: unknown;
  host: HostFacts;
  /** What the target must make room for, as the source has it. */
  disks: CopiedDisk[];
}

/** A disk that is copied, because the Pods do not share it. */
export interface CopiedDisk {
  /** Name of its volume. */
  volume: string;
  /** Virtual size in bytes. */
  size: number;
}

export interface PrepareTargetReply {
  /** Socket of the target's libvirt, as a path inside the Pod. */
  libvirtSocket: string;
}

/** MigrateVMI: carries it out, or attaches to it, or tells again how it ended. */
export interface MigrateRequest {
  migrationUid: string;
  options: MigrationOptions;
  /** What differs on the target's host; the rest of the domain is as it runs. */
  targetHost: HostFacts;
}

/** Numbers of a migration under way; bytes, milliseconds, bytes per second. */
export interface MigrationProgress {
  mode: MigrationMode;
  elapsedMs: number;
  /** Memory and copied disks together. */
  totalBytes: number;
  processedBytes: number;
  remainingBytes: number;
  /** Passes over the memory so far. */
  iterations: number;
  dirtyRate?: number;
  transferRate?: number;
  /** Per cent by which auto-converge slows the guest down. */
  throttle?: number;
}

export type MigrationMode = 'PreCopy' | 'PostCopy' | 'Paused';

/** Numbers of a migration that is over. */
export interface MigrationNumbers extends MigrationProgress {
  /** As QEMU and libvirt count it: from stopping the source until its last byte was sent. */
  downtimeMs?: number;
}

/**
 * How it ended for the source. `sourceGone`: libvirt said that it is done, and the source proved that it has neither domain nor QEMU. `sourceActive`:
 * the guest runs (or is paused as before) in the source, and this uid is barred there for ever. `unknown`: neither is proven (yet).
 */
export type MigrationOutcome =
  | { kind: 'sourceGone'; numbers?: MigrationNumbers }
  | {
      kind: 'sourceActive';
      cause: 'aborted' | 'failed' | 'timeout' | 'never';
      message: string;
      numbers?: MigrationNumbers;
    }
  | { kind: 'unknown'; message: string };

/** What the stream of MigrateVMI carries; it ends with `ended`. */
export type MigrationEvent =
  { type: 'progress'; progress: MigrationProgress } | { type: 'ended'; outcome: MigrationOutcome };

/** CancelMigration, GetMigration, ResumeMigrated, AbandonMigrationTarget: all name the migration and answer with the view. */
export interface MigrationRef {
  migrationUid: string;
}

/** FinalizeMigration: the domain is this launcher's from now on, under the token's new epoch. Safe to repeat. */
export interface FinalizeRequest extends MigrationRef {
  tokenEpoch: number;
}

/** What a launcher knows of a migration. Whatever it does not know is absent. */
export interface MigrationView {
  migrationUid: string;
  /** `none`: never heard of it. */
  role: 'none' | 'source' | 'target';
  /** Of its domain, now, as libvirt and QEMU's process have it. `incoming`: of a target, guest never resumed here. */
  domain: 'none' | 'incoming' | 'active' | 'unknown';
  /** A migration job is under way. */
  job: boolean;
  /** The guest has been switched over and the rest of its memory follows: it can no longer be taken back. */
  postCopy: boolean;
  /** Target: the guest was resumed here. Source: never true. */
  resumed: boolean;
  /** Target: FinalizeMigration is done. */
  finalized: boolean;
  /** Source: how it ended; absent while it runs or before it began. */
  outcome?: MigrationOutcome;
  progress?: MigrationProgress;
  /** Source: what PrepareMigrationTarget needs to know. */
  copiedDisks?: CopiedDisk[];
}
