import type { InstanceFacts, VirtualMachineFacts } from '../../api/contract/facts.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';

export type StateChangeRequest = VirtualMachineFacts['stateChangeRequests'][number];

/** Instances in a row that ended without ever running. */
export interface StartFailures {
  count: number;
  lastUid: string;
  /** RFC 3339 */
  retryAt: string;
}

/** All that the entity of a VM knows; JSON only. */
export interface VirtualMachineState {
  ref: ObjectRef;
  object?: VirtualMachineFacts;
  adoption: 'needed' | 'done';
  /** The VM's instance; absent: there is none, as far as is known. */
  instance?: InstanceFacts;
  /** Uid of an instance that was seen running. */
  ranUid?: string;
  /** The one activity under way that acts for the VM. */
  busy?: VirtualMachineCommand['type'];
  /** Requests from the head of the object's list that are settled, until the list no longer shows them. */
  settled: StateChangeRequest[];
  /** What was refused last, for which generation of the VM, and when it is tried again; absent: not before the VM changes. */
  refused?: {
    command: VirtualMachineCommand['type'];
    failure: FailureInfo;
    generation: number;
    rounds: number;
    retryAt?: string;
  };
  /** Uids of the instances that went last: what an answer on its way still says of them is past. */
  gone: string[];
  startFailures?: StartFailures;
  wakeAt?: string;
  /** The finalizers are gone, or the object is. */
  released: boolean;
}

export type VirtualMachineEvent =
  | { type: 'virtualMachineObserved'; facts: VirtualMachineFacts }
  | { type: 'instanceObserved'; facts: InstanceFacts }
  | { type: 'dependencyChanged' }
  /** Answer of a live read; absent: there is no instance that the VM owns. */
  | { type: 'instanceRead'; instance?: InstanceFacts }
  | { type: 'created'; instance: InstanceFacts }
  | { type: 'deleted'; instance: InstanceFacts }
  | { type: 'refused'; command: VirtualMachineCommand['type']; failure: FailureInfo; retryable: boolean }
  | { type: 'vmGone' }
  | { type: 'released' }
  | { type: 'timerFired' };

export type VirtualMachineCommand =
  /** Finalizer on the VM, then a live read of its instance. */
  | { type: 'adopt' }
  | { type: 'create'; paused?: boolean }
  | { type: 'delete'; instance: ObjectRef; gracePeriodSeconds?: number }
  | { type: 'release' };

export interface VirtualMachineDecision {
  state: VirtualMachineState;
  commands: VirtualMachineCommand[];
}

export const initialState = (ref: ObjectRef): VirtualMachineState => ({
  ...{ ref, adoption: 'needed', settled: [], gone: [], released: false },
});

export const isOver = ({ released, busy }: VirtualMachineState): boolean => released && busy === undefined;

export const isFinal = ({ phase }: InstanceFacts): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Requests that are not settled yet, oldest first. */
export const pendingRequests = ({ object, settled }: VirtualMachineState): StateChangeRequest[] =>
  object?.stateChangeRequests.slice(settled.length) ?? [];

/** Run strategies that this release carries out. */
export const isSupported = (runStrategy: string): boolean => runStrategy === 'Always' || runStrategy === 'Halted';
