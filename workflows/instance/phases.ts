import type { GuestEnd } from '../../api/contract/operations.ts';
import type { InstanceState } from './state.ts';

const ORDER = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running', 'Succeeded'];

export const isFinal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Enters a phase; phases only go forward, and a final one stays. */
export const inPhase = (state: InstanceState, phase: string, at: string): InstanceState => {
  if (isFinal(state.phase) || (phase !== 'Failed' && ORDER.indexOf(phase) <= ORDER.indexOf(state.phase))) return state;
  return { ...state, phase, phaseTimes: [...state.phaseTimes, { phase, at }] };
};

/** The phase that the object has already, of which an entity without history knows no time. */
export const startingFrom = (state: InstanceState, phase: string): InstanceState =>
  state.phase === '' ? { ...state, phase } : state;

/** Phase of a VMI whose guest ended so: a guest that was shut down or destroyed on request has succeeded, as in KubeVirt. */
export const finalPhase = (end: GuestEnd): 'Succeeded' | 'Failed' =>
  end === 'crashed' || end === 'unknown' || end === 'neverRan' ? 'Failed' : 'Succeeded';
