import type { GuestEnd } from '../../api/contract/operations.ts';
import type { InstanceState } from './state.ts';

const ORDER = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running', 'Succeeded'];

export const isFinal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Phases only go forward, and a final one stays. */
const isLater = (phase: string, than: string): boolean =>
  !isFinal(than) && (phase === 'Failed' || ORDER.indexOf(phase) > ORDER.indexOf(than));

/** Enters a phase, unless it lies behind. */
export const inPhase = (state: InstanceState, phase: string, at: string): InstanceState =>
  isLater(phase, state.phase) ? { ...state, phase, phaseTimes: [...state.phaseTimes, { phase, at }] } : state;

/** The guest runs. Its Pod had been scheduled then, whether or not anybody had said so. */
export const asRunning = (state: InstanceState, at: string): InstanceState =>
  inPhase(inPhase(state, 'Scheduled', at), 'Running', at);

/** The Pod of a start has its node and its containers run: what is left is the guest's start. */
export const asScheduled = (state: InstanceState, at: string): InstanceState => {
  const { operation, pod, podFacts } = state;
  const isSo = operation?.kind === 'start' && pod?.node !== undefined && podFacts?.computeReady === true;
  return isSo ? inPhase(state, 'Scheduled', at) : state;
};

/** The phase that the object has already, of which an entity without history knows no time. */
export const startingFrom = (state: InstanceState, phase: string): InstanceState =>
  isLater(phase, state.phase) ? { ...state, phase } : state;

/**
 * Phase of a VMI whose guest ended so. One whose end was asked for has succeeded, also if it did not obey and was destroyed (KubeVirt calls that Failed):
 * a VM that is run again on failure must not come back because its guest was slow to shut down.
 */
export const finalPhase = (end: GuestEnd): 'Succeeded' | 'Failed' =>
  ['crashed', 'unknown', 'neverRan', 'nodeLost'].includes(end) ? 'Failed' : 'Succeeded';
