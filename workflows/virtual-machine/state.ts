import type { DataVolumesState, SettledRequest } from '../../api/contract/activities.ts';
import type { InstanceFacts, VirtualMachineFacts } from '../../api/contract/facts.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { KnownTrigger, TriggerAction } from '../../api/contract/triggers.ts';
import { VM_FINALIZER } from '../../api/kubevirt/finalizers.ts';

export type StateChangeRequest = VirtualMachineFacts['stateChangeRequests'][number];

/** Instances in a row that ended without ever running. */
export interface StartFailures {
  count: number;
  lastUid: string;
  /** RFC 3339 */
  retryAt: string;
}

/** What was refused last, for which generation of the VM, and when it is tried again; absent: not before the VM changes. */
export interface Refusal {
  command: ActingCommand['type'];
  failure: FailureInfo;
  generation: number;
  rounds: number;
  retryAt?: string;
}

/** What became of a request, and when; RFC 3339. */
export type RequestOutcome = SettledRequest & { at: string };

/** All that the entity of a VM knows; JSON only. */
export interface VirtualMachineState {
  ref: ObjectRef;
  object?: VirtualMachineFacts;
  adoption: 'needed' | 'done';
  /** The VM's instance; absent: there is none, as far as is known. */
  instance?: InstanceFacts;
  /** Uid of an instance that was seen running. */
  ranUid?: string;
  /** Run strategy in force since an instance has existed; another one than the object's: that one has just been chosen. */
  ranUnder?: string;
  /** The one activity under way that acts for the VM. */
  busy?: ActingCommand['type'];
  /** Requests from the head of the object's list that have come to their end, until they are off the list. */
  settled: SettledRequest[];
  /** What became of the last requests, oldest first. */
  outcomes: RequestOutcome[];
  /** How many requests have come to their end so far. */
  served: number;
  refused?: Refusal;
  /** Uids of the instances that went last: what an answer on its way still says of them is past. */
  gone: string[];
  startFailures?: StartFailures;
  /** DataVolumes of the VM's templates, as they were found; looked at again at `lookAt` while they are not ready. */
  dataVolumes?: { state: DataVolumesState; generation: number; rounds: number; lookAt: string };
  /** Triggers accepted last, oldest first; absent: none. */
  triggers?: KnownTrigger[];
  /** How often something has come that the VM may have waited for; absent: never. */
  woken?: number;
  wakeAt?: string;
  /** The finalizers are gone, or the object is. */
  released: boolean;
  /** The object is gone. */
  vanished?: true;
}

export type VirtualMachineEvent =
  | { type: 'virtualMachineObserved'; facts: VirtualMachineFacts }
  | { type: 'instanceObserved'; facts: InstanceFacts }
  | { type: 'dependencyChanged' }
  /** Answer of a live read; absent: there is no instance that the VM owns. */
  | { type: 'instanceRead'; instance?: InstanceFacts }
  | { type: 'created'; instance: InstanceFacts }
  | { type: 'deleted'; instance: InstanceFacts }
  /** The VM as it is since its run strategy or its requests were changed for the entity. */
  | { type: 'changed'; facts: VirtualMachineFacts }
  /** The VM as it is since its status was written without the settled requests up to this one. */
  | { type: 'published'; facts: VirtualMachineFacts; settled: number }
  | { type: 'provisioned'; state: DataVolumesState }
  | { type: 'refused'; command: ActingCommand['type']; failure: FailureInfo; retryable: boolean }
  /** Another service asks for something, and was told that it is accepted. */
  | { type: 'triggered'; trigger: AcceptedTrigger }
  /** The operation of a trigger is over. */
  | { type: 'triggerOver'; id: string }
  | { type: 'vmGone' }
  | { type: 'released' }
  | { type: 'timerFired' };

export interface AcceptedTrigger {
  /** Workflow id of its operation. */
  id: string;
  action: TriggerAction;
  key: string;
  options: object;
  /** Uid of the instance that it is about; '': there was none. */
  instance: string;
}

export type VirtualMachineCommand = ActingCommand | TriggerCommand;

/** About the operations of triggers: beside whatever is done for the VM. */
export type TriggerCommand = { type: 'trigger'; trigger: AcceptedTrigger } | { type: 'wakeTrigger'; id: string };

/** What the entity does for the VM: one at a time. */
export type ActingCommand =
  /** Finalizer on the VM, then a live read of its instance. */
  | { type: 'adopt' }
  /** Also adopts: an instance that is there already is what it returns. */
  | { type: 'create'; paused?: boolean }
  | { type: 'delete'; instance: ObjectRef; gracePeriodSeconds?: number }
  /** Halted becomes Always. */
  | { type: 'switchOn' }
  /** A start request of the entity's own, for the instance that failed. */
  | { type: 'queueStart' }
  | { type: 'provision' }
  | { type: 'release' };

export interface VirtualMachineDecision {
  state: VirtualMachineState;
  commands: VirtualMachineCommand[];
}

export const initialState = (ref: ObjectRef): VirtualMachineState => ({
  ...{ ref, adoption: 'needed', settled: [], outcomes: [], served: 0, gone: [], released: false },
});

/** It is being deleted, and nobody else keeps it: it goes with our finalizer. */
export const isOursAlone = (object: VirtualMachineState['object']): boolean =>
  object?.deleting === true && object.finalizers.every((finalizer) => finalizer === VM_FINALIZER);

/** An end that comes at the same moment as the word that the object is gone would be refused by the server: that word is waited for where it is sure to come. */
export const isOver = ({ released, busy, object, vanished }: VirtualMachineState): boolean => {
  const goes = isOursAlone(object) && object?.finalizers.includes(VM_FINALIZER) === true;
  return released && busy === undefined && (vanished === true || !goes);
};

export const isFinal = ({ phase }: InstanceFacts): boolean => phase === 'Succeeded' || phase === 'Failed';

/** It runs, or is on its way there. */
export const isLive = (instance: InstanceFacts | undefined): boolean =>
  instance !== undefined && !instance.deleting && !isFinal(instance);

/** Requests that have not come to their end yet, oldest first. */
export const pendingRequests = ({ object, settled }: VirtualMachineState): StateChangeRequest[] =>
  object?.stateChangeRequests.slice(settled.length) ?? [];

/** The start that is asked for; absent: none is. */
export const pendingStart = (state: VirtualMachineState): StateChangeRequest | undefined =>
  pendingRequests(state).find(({ action }) => action === 'Start');
