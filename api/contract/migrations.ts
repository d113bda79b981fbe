import type { FailureInfo } from './failures.ts';
import { query, signal } from './messages.ts';
import type { OperationInput } from './operations.ts';
import type { ObjectRef, PodRef } from './refs.ts';
import type { HostFacts } from '../launcher/host-facts.ts';
import type {
  CopiedDisk,
  MigrationChannel,
  MigrationMode,
  MigrationNumbers,
  MigrationOptions,
  MigrationView,
} from '../launcher/migration.ts';

/**
 * Live migration. A VirtualMachineInstanceMigration (VMIM) is its only cause; `migrateInstance` with the id `migration/<ns>/<name>/<uid of the VMIM>`
 * carries it out; it asks the instance's entity (one operation at a time) and the scheduler (permits) before it acts. Run again under the same id
 * it finds what the run before has left and goes on from there: every step ensures, and launchers carry out a migration's uid once.
 */

/** A VMIM, as its workflow needs it. */
export interface MigrationFacts {
  migration: ObjectRef;
  resourceVersion: string;
  /** spec.vmiName; '' when absent. */
  vmiName: string;
  /** '' until first written. */
  phase: string;
  /** Deleting a VMIM cancels its migration. */
  deleting: boolean;
  finalizers: string[];
  priority?: string;
  addedNodeSelector?: Record<string, string>;
  /** Set when the spec cannot work: which field and why. */
  invalid?: string;
  /** The object is gone (a watch said Deleted, or a live read said 404). */
  gone?: boolean;
}

export type MigrationPhase =
  'Pending' | 'Scheduling' | 'Scheduled' | 'PreparingTarget' | 'TargetReady' | 'Running' | 'Succeeded' | 'Failed';

/** `attempt` is 1; `vmi.uid` is '' if there was no VMI of that name when it began. */
export interface MigrateInput extends OperationInput {
  migration: ObjectRef;
}

/** Annotation of a VMIM: name of the failed one in its namespace that it retries. */
export const RETRY_OF_ANNOTATION = 'virtflow.io/retry-of';

/** From the bridge, to a migration: the VMIM changed. */
export const migrationObserved = signal<[MigrationFacts]>('migrationObserved');

/** To the instance's entity: may this migration be the instance's operation now? Safe to repeat. */
export interface MigrationProposal {
  operationId: string;
  migration: ObjectRef;
}
export const migrationProposed = signal<[MigrationProposal]>('migrationProposed');

/** From the entity. Accepted: it is the instance's operation until it reports its end. */
export type MigrationAnswer =
  { accepted: true; source: Required<PodRef>; epoch: number } | { accepted: false; failure: FailureInfo };
export const migrationAnswered = signal<[MigrationAnswer]>('migrationAnswered');

/** How far it is, for statuses of VMI and VMIM (KubeVirt's migrationState is made of it), history and UI. RFC 3339. */
export interface MigrationReport {
  migration: ObjectRef;
  phase: MigrationPhase;
  /** Phases passed, oldest first. */
  phaseTimes: { phase: MigrationPhase; at: string }[];
  source?: PodRef;
  target?: PodRef;
  /** Target node worker's address for the source's. */
  targetAddress?: string;
  options?: MigrationOptions;
  /** MigrateVMI began, and the migration ended. */
  startedAt?: string;
  endedAt?: string;
  /** The target runs the guest since. */
  targetRunsSince?: string;
  mode?: MigrationMode;
  numbers?: MigrationNumbers;
  /** Somebody asked to cancel it; what became of that. */
  abort?: 'requested' | 'succeeded' | 'failed';
  /** Why it failed, or what stands in the way now. */
  failure?: FailureInfo;
  /** Nobody can say who holds the guest: what it waits for, and how to settle it. */
  outcomeUnknown?: string;
  /** It has failed, and the token says that the guest stays where it was: what is left to do is to clear the target away. */
  stays?: true;
}
/** Answer of a migration's workflow. */
export const migrationStatus = query<MigrationReport>('migrationStatus');

/** What AdmitMigration found. */
export interface AdmittedMigration {
  facts: MigrationFacts;
  options: MigrationOptions;
  priority: number;
  /** Seconds that the target Pod may be unschedulable, and pending for any other reason. */
  timeouts: { unschedulable: number; pending: number };
}

/** Where the source's node worker reaches the target's for this migration. */
export interface TargetEndpoint {
  node: string;
  /** Address and port of the target's node worker: mutual TLS, each connection names migration and channel. */
  address: string;
  port: number;
  /** Sockets behind it, as paths in the target Pod. */
  sockets: Record<MigrationChannel, string>;
  /** The target's host: the source's launcher adapts the domain to it. */
  host: HostFacts;
}

/** What both launchers know; absent: no answer. `resolveMigration` decides on it. */
export interface MigrationEvidence {
  source?: MigrationView;
  target?: MigrationView;
  /** Proof by other means that a Pod runs nothing (design: evidence b, c, d). */
  sourceProvenGone?: boolean;
  targetProvenGone?: boolean;
}

/**
 * How MigrateVMI ended for the workflow. `moved`: the source is proven gone and the guest runs in the target, resumed through the hand-over between
 * the node workers. `stayed`: the source runs on and this uid is barred there.
 */
export type MigrationVerdict =
  | { kind: 'moved'; resumedAt: string; numbers?: MigrationNumbers }
  | { kind: 'stayed'; cause: 'aborted' | 'failed' | 'timeout' | 'never'; message: string; numbers?: MigrationNumbers };

export interface OnMigration {
  vmi: ObjectRef;
  migration: ObjectRef;
}

export interface PrepareTarget extends OnMigration {
  /** Target. */
  pod: Required<PodRef>;
  source: Required<PodRef>;
  epoch: number;
  disks: CopiedDisk[];
}

export interface CarryOut extends OnMigration {
  /** Source. */
  pod: Required<PodRef>;
  target: Required<PodRef>;
  endpoint: TargetEndpoint;
  epoch: number;
  options: MigrationOptions;
}

/** Id of the scheduler of permits. */
export const MIGRATION_SCHEDULER_ID = 'migration-scheduler';

/** Who asks for a permit: a migration's workflow. */
export interface PermitRequest {
  /** Workflow id. */
  holder: string;
  migration: ObjectRef;
  sourceNode: string;
  /** Higher goes first; then first come, first served. */
  priority: number;
}
export const permitRequested = signal<[PermitRequest]>('permitRequested');
/** To the scheduler: its job is proven over. */
export const permitReturned = signal<[{ holder: string }]>('permitReturned');
/** From the bridge: limits may have changed. */
export const limitsChanged = signal<[]>('limitsChanged');
/** From the scheduler, to a holder. */
export const permitGranted = signal<[]>('permitGranted');

export interface PermitLimits {
  perCluster: number;
  outboundPerNode: number;
}

/** What the scheduler learns of holders. `over`: the VMIM is final or gone, and its workflow does not run. */
export interface PermitHolder {
  holder: string;
  migration: ObjectRef;
  sourceNode: string;
  over: boolean;
}

export interface SchedulerStatus {
  limits: PermitLimits;
  holding: { holder: string; sourceNode: string; since: string }[];
  /** In the order in which they will be served. */
  waiting: { holder: string; sourceNode: string; priority: number; since: string; why: string }[];
}
export const schedulerStatus = query<SchedulerStatus>('schedulerStatus');
