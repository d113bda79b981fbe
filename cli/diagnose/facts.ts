import type { EntityStatus } from '../../api/contract/entities.ts';
import type { EvacuationStatus } from '../../api/contract/evacuation.ts';
import type { Node, PersistentVolumeClaim, Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Migration } from '../migration/objects.ts';
import type { ReadOperation } from '../temporal/operations.ts';

/** Something that was asked for: the answer (which may be "there is none"), or why there is no answer. */
export type Asked<T> = { answered: true; value: T } | { answered: false; why: string };

export interface OperationFacts extends ReadOperation {
  workflowId: string;
}

/** Everything the walk decides on. */
export interface Facts {
  /** RFC 3339. */
  now: string;
  name: { namespace: string; name: string };
  vm?: VirtualMachine;
  vmi?: VirtualMachineInstance;
  /** Launcher Pods of the VMI, oldest first. */
  pods: Asked<Pod[]>;
  /** Claims that the VMI's volumes name. */
  claims: Asked<{ name: string; claim?: PersistentVolumeClaim }[]>;
  /** Node of the Pod that holds the guest; absent: it is on none, or the node is gone. */
  node: Asked<Node | undefined>;
  /** The migration under way, or the last one of this instance. */
  migration: Asked<Migration | undefined>;
  temporal: Asked<TemporalFacts>;
}

export interface TemporalFacts {
  /** Of the VMI; absent: it has no workflow (yet). */
  entity: Asked<EntityStatus | undefined>;
  /** The start or shutdown under way, or the one that failed last. */
  operation?: OperationFacts;
  /** Of the newest migration. */
  migration?: OperationFacts;
  /** Of the node that the instance is to leave; absent: it is to leave none. Undefined: nothing empties it. */
  evacuation?: Asked<EvacuationStatus | undefined>;
  /** Workers that poll a queue, by its name. */
  pollers: Record<string, number>;
}

export const STAGES = [
  'object',
  'volumes',
  'launcher Pod',
  'scheduling',
  'command server',
  'libvirt',
  'domain',
  'agent',
] as const;
export const MIGRATION_STAGES = ['Prepare', 'Migrate', 'Finalize'] as const;
export type StageName = (typeof STAGES)[number] | (typeof MIGRATION_STAGES)[number] | 'evacuation';

/** How a stage stands. `unknown`: it could not be asked. */
export interface Standing {
  state: 'ok' | 'waiting' | 'stopped' | 'failed' | 'not reached' | 'unknown';
  /** Step and failure type that say so, for who looks into the workflow. */
  by?: string;
  why: string;
  /** What to do. */
  remedy?: string;
}

export interface Stage extends Standing {
  stage: StageName;
}

export const ok = (why: string): Standing => ({ state: 'ok', why });
export const notReached: Standing = { state: 'not reached', why: '' };
export const unknown = (why: string): Standing => ({ state: 'unknown', why });
