import type { FailureInfo } from './failures.ts';
import { query, signal, update } from './messages.ts';
import type { MigrationReport } from './migrations.ts';
import type { ObjectRef, PodRef } from './refs.ts';
import type { DomainReport } from '../launcher/reports.ts';
import type { PodFacts } from './facts.ts';

/** Workflow types; the exported workflow functions carry these names. */
export const WORKFLOWS = {
  virtualMachine: 'virtualMachine',
  virtualMachineInstance: 'virtualMachineInstance',
  startInstance: 'startInstance',
  shutdownInstance: 'shutdownInstance',
  migrateInstance: 'migrateInstance',
  migrationScheduler: 'migrationScheduler',
  nodeLifecycle: 'nodeLifecycle',
  carryOutTrigger: 'carryOutTrigger',
  evacuateNode: 'evacuateNode',
  replicaSet: 'replicaSet',
} as const;

/** Operations on an instance: its entity has one at a time. */
export type OperationKind = 'start' | 'shutdown' | 'migrate';

/** `trigger`: what another service has asked of a VM. */
export type AnyOperationKind = OperationKind | 'trigger';

/** One step of an operation, as shown by `virtflow history`. Times are RFC 3339. */
export interface StepRecord {
  name: string;
  /** Node whose worker ran it; absent for the controller. */
  node?: string;
  startedAt: string;
  endedAt?: string;
  /** Rounds of the step's own back-off, from 1 (Temporal's short server-side retries are not counted). */
  attempts: number;
  state: 'running' | 'waiting' | 'done' | 'failed' | 'undone' | 'cancelled';
  /** Why it waits or how it failed. */
  failure?: FailureInfo;
  /** While waiting: when the next try is due. */
  nextTryAt?: string;
  /** What the step found, in words: "guest shut down by agent", "destroyed at the deadline". */
  note?: string;
}

/** Input of every operation. */
export interface OperationInput {
  /** Workflow id of the entity that is told of progress and end. */
  entity: string;
  vmi: ObjectRef;
  /** The VM that owns the VMI, for search attributes; absent for a bare VMI. */
  vm?: { name: string; uid: string };
  /** Attempt number, also the last part of the workflow id. */
  attempt: number;
  /** Workflow id of the failed operation that this one retries. */
  retryOf?: string;
}

export interface StartInput extends OperationInput {
  /** Keep the guest paused after the domain has started. */
  paused?: boolean;
}

export interface ShutdownInput extends OperationInput {
  pod: PodRef;
  /** When the domain is destroyed at the latest; RFC 3339. In the past: at once. */
  deadline: string;
  /** What caused it, for the history. */
  cause: 'deleted' | 'guestStopped' | 'podDeleted' | 'startCancelled' | 'nodeFenced';
  /** Epoch of the run token to release once the domain is proven gone; absent: the token is not touched. */
  epoch?: number;
  /** How the guest ended, if its launcher has said so already. */
  end?: GuestEnd;
}

/** How the guest ended. `unknown`: the Pod ended without a final report. */
export type GuestEnd =
  | 'agentShutdown'
  | 'acpiShutdown'
  | 'guestShutdown'
  | 'destroyedAtDeadline'
  | 'killed'
  | 'crashed'
  | 'neverRan'
  /** Its node is fenced. */
  | 'nodeLost'
  | 'unknown';

export interface OperationResult {
  kind: AnyOperationKind;
  steps: StepRecord[];
  pod?: PodRef;
  /** Run token's epoch under which the domain started. */
  epoch?: number;
  end?: GuestEnd;
  /** Of a start, once its Pod has a node. */
  start?: StartShown;
  /** Of a migration. */
  migration?: MigrationReport;
  /** Workflow id of the failed operation that this one retried. */
  retryOf?: string;
}

/** What a start knows of the VMI, from which its entity goes on. */
export interface StartShown {
  /** Its Pod, as it was created or was seen last. */
  podFacts: PodFacts;
  /** What the launcher has said last. */
  domain?: DomainReport;
  /** Phases that the VMI has passed by this start, oldest first; RFC 3339. */
  phaseTimes: { phase: string; at: string }[];
  /** The VMI's status says all this: the start has written it itself, as it had nothing to tell its entity before its end. */
  isShown?: true;
}

/** Answer of the `operationStatus` query and of a failed operation's failure details. */
export interface OperationStatus extends OperationResult {
  vmi: ObjectRef;
  attempt: number;
  phase: string;
  deadline?: string;
  failure?: FailureInfo;
}

/** An operation tells its entity how far it is (the entity writes the object's status). */
export interface OperationProgress {
  operationId: string;
  kind: AnyOperationKind;
  phase: string;
  pod?: PodRef;
  epoch?: number;
  /** Set while a step waits or has been refused; absent when nothing is in the way. */
  trouble?: { step: string; failure: FailureInfo };
  /** Of a migration: for the VMI's migrationState. */
  migration?: MigrationReport;
}

/** An operation is over: its entity is told, or has it from the end of the workflow that it has begun. */
export interface OperationFinished {
  operationId: string;
  kind: AnyOperationKind;
  outcome: 'succeeded' | 'failed' | 'cancelled';
  pod?: PodRef;
  epoch?: number;
  end?: GuestEnd;
  failure?: FailureInfo;
  start?: StartShown;
  /** Of a migration: `pod` and `epoch` are then those of the Pod that holds the guest at its end. */
  migration?: MigrationReport;
}

/** To entities. */
export const operationProgress = signal<[OperationProgress]>('operationProgress');
export const operationFinished = signal<[OperationFinished]>('operationFinished');

/** To operations: forwarded by the entity. */
export const podChanged = signal<[PodFacts]>('podChanged');
export const domainChanged = signal<[DomainReport]>('domainChanged');
/** Something that a waiting step may wait for has changed (a PVC, a quota, a node): try again now. */
export const wake = signal<[]>('wake');
/** That it is delivered says that the operation runs; one that has just told its end tells it again, for who asks may not have heard it. */
export const ping = signal<[]>('ping');
/** To shutdownInstance: bring the deadline forward (later ones are ignored); RFC 3339. */
export const bringForward = signal<[string]>('bringForward');

/** To operations, from people: end the current back-off at once. Refused when no step waits. */
export const retryNow = update<{ step: string }, []>('retryNow');
export const operationStatus = query<OperationStatus>('operationStatus');

/** To the instance entity, from people: start a new attempt of the operation that failed last. Refused when none failed. */
export const retryOperation = update<{ operationId: string }, []>('retryOperation');
