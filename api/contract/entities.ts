import type { DomainReport } from '../launcher/reports.ts';
import type { SettledRequest } from './activities.ts';
import type { FailureInfo } from './failures.ts';
import type { InstanceFacts, PodFacts, VirtualMachineFacts } from './facts.ts';
import { query, signal } from './messages.ts';
import type { ObjectRef } from './refs.ts';

/** State that continue-as-new carries; JSON only, migrated by version on restore. */
export interface Carried {
  version: 1;
  state: unknown;
}

/** Input of the entities `virtualMachine` and `virtualMachineInstance`. */
export interface EntityInput {
  ref: ObjectRef;
  carried?: Carried;
  /** Continue as new after this many history events; absent: when the server suggests it. */
  continueAfter?: number;
}

/** From the bridge. */
export const virtualMachineObserved = signal<[VirtualMachineFacts]>('virtualMachineObserved');
/** To the instance's own entity, and to the entity of the VM that owns it. */
export const instanceObserved = signal<[InstanceFacts]>('instanceObserved');
export const podObserved = signal<[PodFacts]>('podObserved');
/** A PVC, DataVolume, quota, instance type, preference or the cluster configuration changed in a way that a waiting start may care about. */
export const dependencyChanged = signal<[{ kind: string; name: string }]>('dependencyChanged');

/** From node workers: what a launcher says of its domain, in order of (epoch, n). */
export const domainReported = signal<[DomainReport]>('domainReported');

export interface EntityStatus {
  ref: ObjectRef;
  phase: string;
  /** Workflow id of the operation under way. */
  operation?: string;
  /** The operation that failed last, until it is retried or the object ends. */
  failedOperation?: { id: string; failure: FailureInfo };
  /** Of a VM: what became of its last start and stop requests, oldest first; RFC 3339. */
  requests?: (SettledRequest & { at: string })[];
  /** Of a VM: the triggers it has accepted last, oldest first. */
  triggers?: { id: string; open: boolean }[];
}

export const entityStatus = query<EntityStatus>('entityStatus');
