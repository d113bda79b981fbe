import type { GuestEnd, StartShown } from '../../api/contract/operations.ts';
import { isNewer } from '../../api/launcher/reports.ts';
import type { InstanceState } from './state.ts';

const ORDER = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running', 'Succeeded'];

export const isFinal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Phases only go forward, and a final one stays. */
const isLater = (phase: string, than: string): boolean =>
  !isFinal(than) && (phase === 'Failed' || ORDER.indexOf(phase) > ORDER.indexOf(than));

/** Enters a phase, unless it lies behind. */
export const inPhase = (state: InstanceState, phase: string, at: string): InstanceState =>
  isLater(phase, state.phase) ? { ...state, phase, phaseTimes: [...state.phaseTimes, { phase, at }] } : state;

/** The phases that a start has brought the VMI to, and what it says of its Pod and domain, if that stays; what the entity has heard itself is as new. */
export const withStart = (state: InstanceState, { podFacts, domain, phaseTimes }: StartShown): InstanceState => {
  const others = state.phaseTimes.filter(({ phase }) => !phaseTimes.some((own) => own.phase === phase));
  const times = inOrder([...others, ...phaseTimes]);
  const passed = phaseTimes.reduce((known, { phase }) => startingFrom(known, phase), { ...state, phaseTimes: times });
  if (state.pod?.uid !== podFacts.uid) return passed;
  return {
    ...passed,
    podFacts: state.podFacts ?? podFacts,
    ...(domain !== undefined && isNewer(domain, state.domain) ? { domain } : {}),
  };
};

const inOrder = (times: InstanceState['phaseTimes']): InstanceState['phaseTimes'] =>
  times.toSorted((a, b) => rank(a.phase) - rank(b.phase));

const rank = (phase: string): number => (isFinal(phase) ? ORDER.length : ORDER.indexOf(phase));

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
