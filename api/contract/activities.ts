import type { DomainReport } from '../launcher/reports.ts';
import type { EvacuationView } from './evacuation.ts';
import type { FailureInfo } from './failures.ts';
import type { InstanceFacts, PodFacts, VirtualMachineFacts } from './facts.ts';
import type {
  AdmittedMigration,
  CarryOut,
  MigrationReport,
  MigrationVerdict,
  OnMigration,
  PermitHolder,
  PermitLimits,
  PermitRequest,
  PrepareTarget,
  TargetEndpoint,
} from './migrations.ts';
import type { DeletedNode, Fence, NodeRef, NodeReport } from './nodes.ts';
import type { GuestEnd } from './operations.ts';
import type { ReplicaSetReport, ReplicaSetView } from './replica-sets.ts';
import type { ObjectRef, PodRef } from './refs.ts';
import type { Triggered, TriggerEffect, TriggerProgress } from './triggers.ts';
import type { MigrationView } from '../launcher/migration.ts';

/**
 * What workflows ask of the outside, by type only. Every activity ensures: it reads, acts, and returns what it observed; it is safe to run
 * twice and to be killed between effect and return. Failures are those of failures.ts.
 */

/** The run token: who may run a VM's domain. */
export interface RunToken {
  epoch: number;
  /** Absent: free. */
  holder?: { vmiUid: string; attempt?: number; podUid?: string; podName?: string; node?: string };
  /** A migration is moving the domain from the holder's Pod to this one: either may hold it. */
  moving?: { migration: { name: string; uid: string }; podUid: string; podName: string; node: string };
}

/** What an entity without history finds of its VMI. */
export interface Adoption {
  /** Absent: the object is gone. */
  instance?: InstanceFacts;
  token?: RunToken;
  /** Every Pod with the VMI's created-by label, live read. */
  pods: PodFacts[];
}

export interface StartAttempt {
  vmi: ObjectRef;
  attempt: number;
  /** Under which epoch the Pod is created. */
  epoch: number;
}

/** Condition of a VMI or VM, without times: the writer keeps lastTransitionTime. */
export interface ConditionReport {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
}

/** Everything the instance's entity knows that belongs into the VMI's status; the status is a pure function of this and the live object. */
export interface InstanceReport {
  phase: string;
  /** Phases passed since the object was created, oldest first; RFC 3339. */
  phaseTimes: { phase: string; at: string }[];
  /** Pods that may hold the domain: uid -> node ('' while unscheduled). */
  activePods: Record<string, string>;
  node?: string;
  /** Image of the Pod's launcher. */
  launcherImage?: string;
  conditions: ConditionReport[];
  domain?: DomainReport;
  /** How its guest has ended. */
  end?: GuestEnd;
  reason?: string;
  /** The migration under way, or the last one; absent: none so far. */
  migration?: MigrationReport;
}

/** A start or stop request that has come to its end. */
export interface SettledRequest {
  /** Counts the settled requests of a VM, from 1. */
  id: number;
  action: string;
  uid?: string;
  outcome: 'served' | 'obsolete' | 'refused';
  message: string;
}

/** Everything the VM's entity knows that belongs into the VM's status; the status is a pure function of this and the live objects. */
export interface VirtualMachineReport {
  /** Uid of the instance that the entity knows. */
  instance?: string;
  /** resourceVersion of that instance, as the entity knows it: the status shows none that is older. */
  instanceVersion?: string;
  /** That instance is being stopped. */
  ends: boolean;
  /** What comes once there is no instance, or the one there is has ended; keeps "Stopped" from showing in the middle of a restart. */
  then: 'run' | 'stop' | 'runIfFailed';
  /** Generation of the VM that this follows from. */
  generation: number;
  /** Run strategy in force; absent: no instance has ever existed. */
  runStrategy?: string;
  conditions: ConditionReport[];
  /** Instances in a row that ended without ever running; absent: none. RFC 3339. */
  startFailure?: { consecutiveFailCount: number; lastFailedVMIUID: string; retryAfterTimestamp: string };
  /** How far the DataVolumes of the VM's templates are; absent: it has none, or nobody has looked. */
  dataVolumes?: DataVolumesState;
  /** Requests from the head of the list that are settled, oldest first, as they were seen: no later one is dropped. */
  settledRequests: SettledRequest[];
}

export type DataVolumesState = 'ready' | 'provisioning' | 'failed';

/** Queue `controller`. */
export interface ControllerActivities {
  /** Live read of object, token and Pods. */
  adoptInstance(vmi: ObjectRef): Promise<Adoption>;
  /** Puts the finalizer on the VMI and checks that its spec can work. @throws InvalidSpec (message names the field), ObjectGone */
  admitInstance(vmi: ObjectRef): Promise<InstanceFacts>;
  /** All volumes and networks of the spec exist and are ready. @throws VolumeNotFound, VolumeNotReady, VolumeFailed, NetworkNotFound, ObjectGone */
  checkVolumes(vmi: ObjectRef): Promise<void>;
  /** Takes the token for a VMI, with a new epoch unless this attempt already has it. @throws TokenHeld */
  acquireToken(request: { vmi: ObjectRef; attempt: number }): Promise<RunToken>;
  /** Creates the attempt's launcher Pod or returns the one that exists. @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, ObjectGone */
  ensureLauncherPod(attempt: StartAttempt): Promise<PodFacts>;
  /** Records Pod and node in the token. @throws StaleToken */
  bindToken(request: { vmi: ObjectRef; epoch: number; pod: PodRef }): Promise<RunToken>;
  /** Frees the token if this VMI holds it. Call only after the domain is proven gone. */
  releaseToken(request: { vmi: ObjectRef; epoch?: number }): Promise<void>;
  /** Live read; `gone: true` when the API server says there is none with this uid. With `evidence` it says, too, whether its node is fenced. */
  observePod(request: { vmi: ObjectRef; pod: PodRef; evidence?: true }): Promise<PodFacts>;
  /**
   * Deletes the Pod (by uid) and returns what is left of it: with its own grace period, or within seconds if it is proven to hold no guest. Forces
   * only on a fenced node, where no kubelet will ever confirm it.
   */
  deletePod(request: { vmi: ObjectRef; pod: PodRef; holdsNoGuest?: boolean }): Promise<PodFacts>;
  /** Writes status and labels of the VMI if they differ. One writer per object: only its entity calls this. Object gone: does nothing. */
  publishInstance(request: { vmi: ObjectRef; report: InstanceReport }): Promise<void>;
  /** Removes virtflow's finalizers from the VMI. `report`: how it has ended, to be seen before the object may go. Object gone: does nothing. */
  releaseInstance(request: { vmi: ObjectRef; report?: InstanceReport }): Promise<void>;

  /** Puts the finalizer on the VM and reads its VMI; undefined when there is none. One that nobody owns becomes the VM's. @throws ObjectGone */
  adoptVirtualMachine(vm: ObjectRef): Promise<InstanceFacts | undefined>;
  /**
   * Puts the finalizer on the VM, stores the revision that it starts with, and creates its VMI or returns the one that exists. With `report` the VM's
   * status says that of a new one (`isShown`: it does); what identifies the VMI is filled in.
   * @throws InvalidSpec, Forbidden, ObjectGone, TokenHeld (a foreign VMI has the name)
   */
  createInstance(request: {
    vm: ObjectRef;
    paused?: boolean;
    report?: VirtualMachineReport;
  }): Promise<InstanceFacts & { isShown?: true }>;
  /** Deletes the VMI by uid; with `gracePeriodSeconds` its own grace period is replaced first, also of one that is being deleted. */
  deleteInstance(request: { vm: ObjectRef; vmi: ObjectRef; gracePeriodSeconds?: number }): Promise<InstanceFacts>;
  /** A halted VM that is asked to start: its run strategy becomes Always, in the form in which it was written. @throws ObjectGone */
  switchOn(vm: ObjectRef): Promise<VirtualMachineFacts>;
  /** Queues a Start request unless one is queued: what failed under RerunOnFailure starts again, whoever dies in between. @throws ObjectGone */
  queueStart(vm: ObjectRef): Promise<VirtualMachineFacts>;
  /** Creates what is missing of the DataVolumes in the VM's templates. @throws VolumeNotFound (the cluster has no DataVolumes), InvalidSpec, Forbidden */
  ensureDataVolumes(vm: ObjectRef): Promise<{ state: DataVolumesState }>;
  /**
   * Live read of VMIM, VMI and configuration: puts the finalizer on the VMIM, checks that the VMI may be migrated and that no older VMIM of it is
   * unfinished, works out the effective options. @throws InvalidSpec, ObjectGone, NotMigratable, OperationUnderWay
   */
  admitMigration(request: OnMigration): Promise<AdmittedMigration>;
  /**
   * Creates the migration's target Pod or returns the one that exists: its name derives from the VMIM's uid. Never on the source's node.
   * @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, ObjectGone
   */
  ensureTargetPod(request: OnMigration & { source: PodRef; epoch: number }): Promise<PodFacts>;
  /** The token says "moving from source to target". Safe to repeat. @throws StaleToken */
  recordMove(request: OnMigration & { source: PodRef; target: Required<PodRef>; epoch: number }): Promise<RunToken>;
  /** Takes `moving` back: the source holds the domain. Only once that is proven. @throws StaleToken */
  tokenStays(request: OnMigration & { source: PodRef }): Promise<RunToken>;
  /** The target is the holder, under a new epoch; safe to repeat. Only once the source is proven gone. @throws StaleToken */
  moveToken(request: OnMigration & { target: Required<PodRef> }): Promise<RunToken>;
  /**
   * The label says that the node takes no VMs. Silent: only if the worker has not been heard of since `heartbeat`. Fenced: a taint keeps everything
   * away, too. Gone: does nothing.
   */
  closeNode(request: { node: NodeRef; heartbeat: string; fenced?: true }): Promise<void>;
  /** It is not fenced (any more): takes the taint away. */
  openNode(request: { node: NodeRef }): Promise<void>;
  /** Puts the fence on record, beyond the life of its Node. */
  recordFence(request: { node: NodeRef; fence: Fence }): Promise<void>;
  /**
   * Takes the record of an earlier fence away once the node's worker has given a sign of life since: it has stopped what was stale by then. Whether
   * the record still waits for that.
   */
  liftFence(request: { node: NodeRef }): Promise<{ waits: boolean }>;
  /** Tells the instances of a node that do not know yet; returns which. */
  tellInstances(request: { report: NodeReport }): Promise<{ told: string[] }>;
  /** Whether a deleted Node is fenced by now; then it is on record. */
  assessDeletedNode(request: { node: NodeRef; bootId: string; heartbeat: string }): Promise<DeletedNode>;
  /** Who is to leave a node, and how far that is; live read. */
  observeEvacuation(request: { node: NodeRef }): Promise<EvacuationView>;
  /**
   * Creates the VMIM that takes the VMI away from the node, or returns the unfinished one that there is; undefined: it need not leave any more.
   * @throws Forbidden, InvalidSpec
   */
  createEvacuation(request: { node: NodeRef; vmi: ObjectRef }): Promise<{ migration: string } | undefined>;
  /** Tells as an Event of the VMI that the next migration is put off after the one that failed. */
  tellBackoff(request: { vmi: ObjectRef; failed: string; until: string }): Promise<void>;
  /** The node is not to be emptied any more: the VMI may stay. Asked to leave another one meanwhile: does nothing. */
  withdrawEvacuation(request: { node: NodeRef; vmi: ObjectRef }): Promise<void>;
  /** Cancels an evacuation migration unless it runs by now: then it goes on to its end. */
  cancelEvacuation(request: { node: NodeRef; migration: ObjectRef }): Promise<void>;
  /** Makes its own what the replica set selects and nobody owns, lets go what it does not select any more, and reads what it then has. */
  claimReplicas(set: ObjectRef): Promise<ReplicaSetView>;
  /** Creates the VMIs of the replica set with these numbers; names derive from them, and one that exists is left as it is. @throws InvalidSpec, Forbidden, ObjectGone */
  createReplicas(request: { set: ObjectRef; numbers: number[] }): Promise<void>;
  /** Deletes these VMIs of the replica set, by uid. */
  deleteReplicas(request: { set: ObjectRef; vmis: ObjectRef[] }): Promise<void>;
  /** Writes the replica set's status if it differs. Object gone: does nothing. */
  publishReplicaSet(request: { set: ObjectRef; report: ReplicaSetReport }): Promise<void>;
  /** The token as it is. */
  readToken(vmi: ObjectRef): Promise<RunToken | undefined>;
  /** Writes the VMIM's status if it differs; final phases also take its finalizer off. Object gone: does nothing. */
  publishMigration(report: MigrationReport): Promise<void>;
  /** Starts the scheduler if need be, and asks it. */
  requestPermit(request: PermitRequest): Promise<void>;
  /** Tells the scheduler that the job is over. */
  returnPermit(request: { holder: string }): Promise<void>;
  /** For the scheduler: the limits in force, and what is known of holders: those named, or all there are (every VMIM past Pending and not final). */
  observePermits(request: { holders?: string[] }): Promise<{ limits: PermitLimits; holders: PermitHolder[] }>;

  /** Writes the VM's status if it differs, without the settled requests; the VM as it then is, undefined when it is gone. */
  publishVirtualMachine(request: {
    vm: ObjectRef;
    report: VirtualMachineReport;
  }): Promise<VirtualMachineFacts | undefined>;
  releaseVirtualMachine(vm: ObjectRef): Promise<void>;
  /** Makes the change of objects that a trigger asks for, or finds it made. @throws Refused, ObjectGone */
  performTrigger(trigger: Triggered): Promise<TriggerEffect>;
  /** Live look at how far that is. */
  observeTrigger(request: { trigger: Triggered; effect: TriggerEffect }): Promise<TriggerProgress>;
}

/** How it was proven that a domain is gone (design: evidence a, b, c, d). */
export interface GoneEvidence {
  by: 'launcher' | 'nodeWorker' | 'podEnded' | 'fenced';
  detail: string;
  lastReport?: DomainReport;
}

interface OnPod {
  vmi: ObjectRef;
  pod: PodRef;
}

/** Queue `node-<name>`; `destroyDomain`, `inspectMigration` and `cancelMigration` also on `node-<name>-urgent`. All verify Pod (own node, created-by) first. */
export interface NodeActivities {
  /**
   * Disks, network, then the launcher's SyncVMI under the token's live epoch. Heartbeats.
   * @throws StaleToken, InvalidSpec, ImageContent, LauncherUnreachable, DomainRejected, DomainFailed, PodFailed
   */
  syncInstance(request: OnPod & { epoch: number; paused?: boolean }): Promise<DomainReport>;
  /**
   * Hands the absolute deadline (RFC 3339) to the launcher, which signals the guest and enforces it. A guest that stops within a moment is waited for:
   * then `gone` is the evidence that nothing of it is left, if there is any. @throws LauncherUnreachable
   */
  shutdownDomain(request: OnPod & { deadline: string }): Promise<DomainReport & { gone?: GoneEvidence }>;
  /** Destroys the domain now. No domain: success. @throws LauncherUnreachable */
  destroyDomain(request: OnPod): Promise<DomainReport>;
  /** Evidence (a) or (b) of the design. Also unmounts what syncInstance mounted. @throws StillRunning, Unproven */
  proveDomainGone(request: OnPod): Promise<GoneEvidence>;
  /** What the launcher says now; for adoption. @throws LauncherUnreachable */
  inspectDomain(request: OnPod): Promise<DomainReport>;

  /** What the Pod's launcher knows of a migration. Also on the urgent queue. @throws LauncherUnreachable, LauncherTooOld */
  inspectMigration(request: OnMigration & { pod: PodRef }): Promise<MigrationView>;
  /**
   * Target: disks, network, launcher's PrepareMigrationTarget, and the way in through this node's proxy. Heartbeats.
   * @throws StaleToken, InvalidSpec, ImageContent, LauncherUnreachable, LauncherTooOld, DomainRejected, DomainFailed, PodFailed
   */
  prepareMigrationTarget(request: PrepareTarget): Promise<TargetEndpoint>;
  /**
   * Source: carries the migration out or attaches to it, hands the guest over to the target's node worker as soon as the source is proven gone, and
   * returns how it ended. Heartbeats with MigrationProgress as details. Its own end (cancelled, worker stopped) does not end the migration.
   * @throws StaleToken, LauncherUnreachable, LauncherTooOld, PeerUnreachable, MigrationOutcomeUnknown
   */
  migrateVMI(request: CarryOut): Promise<MigrationVerdict>;
  /** Source, urgent queue: aborts, and bars the uid if it has not begun. @throws LauncherUnreachable */
  cancelMigration(request: OnMigration & { pod: PodRef }): Promise<MigrationView>;
  /** Target: resumes the guest, the source being proven gone (hand-over by the workflow when that between node workers was lost). */
  resumeMigrated(request: OnMigration & { pod: PodRef }): Promise<MigrationView>;
  /** Target: resumed, network announced, definition persisted, the new epoch taken; the way in is closed. @throws LauncherUnreachable, DomainFailed */
  finalizeMigration(request: OnMigration & { pod: PodRef; epoch: number }): Promise<DomainReport>;
  /** Target: destroys what came in and was never resumed, closes the way in. @throws StillRunning when the guest was resumed here, LauncherUnreachable */
  abandonMigrationTarget(request: OnMigration & { pod: PodRef }): Promise<MigrationView>;
  /** Urgent queue: a worker that lives although its Node is fenced stops every domain here; returns what it stopped. Not fenced: does nothing. */
  stopFencedDomains(request: { node: NodeRef }): Promise<{ stopped: string[] }>;
  /** Source: closes its side of the proxy. Node gone or nothing there: success. */
  closeMigrationSource(request: OnMigration & { pod: PodRef }): Promise<void>;
}

/** Outcome of an activity that may not throw across a boundary. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: FailureInfo };
