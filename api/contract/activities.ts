import type { DomainReport } from '../launcher/reports.ts';
import type { FailureInfo } from './failures.ts';
import type { InstanceFacts, PodFacts } from './facts.ts';
import type { ObjectRef, PodRef } from './refs.ts';

/**
 * What workflows ask of the outside, by type only. Every activity ensures: it reads, acts, and returns what it observed; it is safe to run
 * twice and to be killed between effect and return. Failures are those of failures.ts.
 */

/** The run token: who may run a VM's domain. */
export interface RunToken {
  epoch: number;
  /** Absent: free. */
  holder?: { vmiUid: string; attempt?: number; podUid?: string; podName?: string; node?: string };
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
  conditions: ConditionReport[];
  domain?: DomainReport;
  reason?: string;
}

/** Everything the VM's entity knows that belongs into the VM's status. */
export interface VirtualMachineReport {
  /** Operation under way as the entity sees it; keeps "Stopped" from showing in the middle of a restart. */
  intent: 'run' | 'stop' | 'restart' | 'delete';
  observedGeneration: number;
  conditions: ConditionReport[];
  /** Instances in a row that ended without ever running; absent: none. RFC 3339. */
  startFailure?: { consecutiveFailCount: number; lastFailedVMIUID: string; retryAfterTimestamp: string };
  /** How many requests from the head of the list are settled, and the list's head as it was seen (so that no later one is dropped). */
  settledRequests: { action: string; uid?: string }[];
}

/** Queue `controller`. */
export interface ControllerActivities {
  /** Live read of object, token and Pods. */
  adoptInstance(vmi: ObjectRef): Promise<Adoption>;
  /** Puts the finalizer on the VMI and checks that its spec can work. @throws InvalidSpec (message names the field), ObjectGone */
  admitInstance(vmi: ObjectRef): Promise<InstanceFacts>;
  /** All volumes of the spec exist and are ready. @throws VolumeNotFound, VolumeNotReady, InvalidSpec */
  checkVolumes(vmi: ObjectRef): Promise<void>;
  /** Takes the token for a VMI, with a new epoch unless this attempt already has it. @throws TokenHeld */
  acquireToken(request: { vmi: ObjectRef; attempt: number }): Promise<RunToken>;
  /** Creates the attempt's launcher Pod or returns the one that exists. @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, ObjectGone */
  ensureLauncherPod(attempt: StartAttempt): Promise<PodFacts>;
  /** Records Pod and node in the token. @throws StaleToken */
  bindToken(request: { vmi: ObjectRef; epoch: number; pod: PodRef }): Promise<RunToken>;
  /** Frees the token if this VMI holds it. Call only after the domain is proven gone. */
  releaseToken(request: { vmi: ObjectRef; epoch?: number }): Promise<void>;
  /** Live read; `gone: true` when the API server says there is none with this uid. */
  observePod(request: { vmi: ObjectRef; pod: PodRef }): Promise<PodFacts>;
  /**
   * Deletes the Pod (by uid) and returns what is left of it: with its own grace period, or within seconds if it is proven to hold no guest. Never
   * forces.
   */
  deletePod(request: { vmi: ObjectRef; pod: PodRef; holdsNoGuest?: boolean }): Promise<PodFacts>;
  /** Writes status and labels of the VMI if they differ. One writer per object: only its entity calls this. Object gone: does nothing. */
  publishInstance(request: { vmi: ObjectRef; report: InstanceReport }): Promise<void>;
  /** Removes virtflow's finalizers from the VMI. Object gone: does nothing. */
  releaseInstance(vmi: ObjectRef): Promise<void>;

  /** Puts the finalizer on the VM. @throws ObjectGone */
  admitVirtualMachine(vm: ObjectRef): Promise<void>;
  /** Creates the VM's VMI or returns the one that exists. @throws InvalidSpec, Forbidden, TokenHeld (a foreign VMI has the name) */
  createInstance(request: { vm: ObjectRef; paused?: boolean }): Promise<InstanceFacts>;
  /** Deletes the VMI by uid; with `gracePeriodSeconds` its own grace period is replaced first. */
  deleteInstance(request: { vm: ObjectRef; vmi: ObjectRef; gracePeriodSeconds?: number }): Promise<InstanceFacts>;
  /** Live read of the VM's VMI by name; undefined when there is none that the VM owns. */
  observeInstance(vm: ObjectRef): Promise<InstanceFacts | undefined>;
  publishVirtualMachine(request: { vm: ObjectRef; report: VirtualMachineReport }): Promise<void>;
  releaseVirtualMachine(vm: ObjectRef): Promise<void>;
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

/** Queue `node-<name>`; `destroyDomain` and `bringDeadlineForward` also on `node-<name>-urgent`. All verify Pod (own node, created-by) first. */
export interface NodeActivities {
  /**
   * Disks, network, then the launcher's SyncVMI under the token's live epoch. Heartbeats.
   * @throws StaleToken, InvalidSpec, ImageContent, LauncherUnreachable, DomainRejected, DomainFailed, PodFailed
   */
  syncInstance(request: OnPod & { epoch: number; paused?: boolean }): Promise<DomainReport>;
  /** Hands the absolute deadline (RFC 3339) to the launcher, which signals the guest and enforces it. @throws LauncherUnreachable */
  shutdownDomain(request: OnPod & { deadline: string }): Promise<DomainReport>;
  /** Destroys the domain now. No domain: success. @throws LauncherUnreachable */
  destroyDomain(request: OnPod): Promise<DomainReport>;
  /** Evidence (a) or (b) of the design. Also unmounts what syncInstance mounted. @throws StillRunning, Unproven */
  proveDomainGone(request: OnPod): Promise<GoneEvidence>;
  /** What the launcher says now; for adoption. @throws LauncherUnreachable */
  inspectDomain(request: OnPod): Promise<DomainReport>;
}

/** Outcome of an activity that may not throw across a boundary. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: FailureInfo };
