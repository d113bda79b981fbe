import type { SettledRequest } from '../../api/contract/activities.ts';
import type { StateChangeRequest, VirtualMachineState } from './state.ts';
import { isFinal, isLive, pendingRequests } from './state.ts';
import { obstacleOf } from './strategies.ts';

/** Outcomes that are remembered for who asks. */
const REMEMBERED = 8;

type Verdict = Pick<SettledRequest, 'outcome' | 'message'>;

const served = (message: string): Verdict => ({ outcome: 'served', message });
const obsolete = (message: string): Verdict => ({ outcome: 'obsolete', message });
const refused = (message: string): Verdict => ({ outcome: 'refused', message });

/** The state with the oldest request brought to its end; undefined when that still has to be carried out, or there is none. */
export const settleOldest = (state: VirtualMachineState, at: string): VirtualMachineState | undefined => {
  const [oldest] = pendingRequests(state);
  const verdict = oldest === undefined ? undefined : verdictOn(oldest, state);
  return oldest === undefined || verdict === undefined ? undefined : settle(state, oldest, verdict, at);
};

const settle = (
  state: VirtualMachineState,
  request: StateChangeRequest,
  verdict: Verdict,
  at: string,
): VirtualMachineState => {
  const noted = note(state, request, verdict, at);
  return { ...noted, settled: [...state.settled, settledAs(noted.served, request, verdict)] };
};

const settledAs = (id: number, { action, uid }: StateChangeRequest, verdict: Verdict): SettledRequest => ({
  ...{ id, action, ...(uid === undefined ? {} : { uid }), ...verdict },
});

const note = (
  state: VirtualMachineState,
  request: StateChangeRequest,
  verdict: Verdict,
  at: string,
): VirtualMachineState => {
  const served = state.served + 1;
  const outcomes = [...state.outcomes, { ...settledAs(served, request, verdict), at }].slice(-REMEMBERED);
  return { ...state, served, outcomes };
};

/** Notes the end of requests that were waiting and that somebody else has taken off the list: a stop in place of a restart, say. */
export const withdraw = (state: VirtualMachineState, known: StateChangeRequest[], at: string): VirtualMachineState => {
  const left = [...pendingRequests(state)];
  return known.reduce((noted, request) => {
    const place = left.findIndex((other) => isSameRequest(request, other));
    if (place < 0) return note(noted, request, obsolete('a later request has taken its place'), at);
    left.splice(place, 1);
    return noted;
  }, state);
};

/** How a request ends as things stand; undefined: not yet. */
const verdictOn = (request: StateChangeRequest, state: VirtualMachineState): Verdict | undefined => {
  if (request.action === 'Stop') return verdictOnStop(request, state);
  if (request.action === 'Start') return verdictOnStart(state);
  return refused(`there is no action ${request.action}: Start and Stop are`);
};

const verdictOnStop = ({ uid }: StateChangeRequest, state: VirtualMachineState): Verdict | undefined => {
  const { instance, object, gone } = state;
  if (uid === undefined) return refused('it does not say which instance is to stop: name its uid');
  if (gone.includes(uid)) return served(`instance ${uid} has ended`);
  if (instance?.vmi.uid !== uid) return obsolete(`there is no instance ${uid} any more`);
  if (object?.runStrategy === 'Once') {
    return refused('a VM of run strategy Once is stopped by setting spec.runStrategy to Halted');
  }
  return undefined;
};

const verdictOnStart = (state: VirtualMachineState): Verdict | undefined => {
  const { instance, object, refused: refusal } = state;
  const obstacle = obstacleOf(state);
  if (obstacle !== undefined) return refused(obstacle.message);
  if (object?.manualRecovery === true) return refused('condition ManualRecoveryRequired is True');
  if (object?.runStrategy === 'Halted') return undefined;
  if (isLive(instance)) return served(`instance ${instance?.vmi.uid} runs or is starting`);
  if (instance !== undefined && isFinal(instance) && object?.runStrategy === 'Once') {
    return refused('a VM of run strategy Once does not run again: choose another run strategy');
  }
  if (refusal?.command === 'create' && refusal.retryAt === undefined && refusal.generation === object?.generation) {
    return refused(refusal.failure.message);
  }
  return undefined;
};

/** Ends requests that were already known when the VM was halted: whoever halted it spoke last. */
export const supersede = (state: VirtualMachineState, known: StateChangeRequest[], at: string): VirtualMachineState => {
  let next = state;
  for (const request of known) {
    const [oldest] = pendingRequests(next);
    if (oldest === undefined || !isSameRequest(request, oldest)) return next;
    next = settle(next, oldest, obsolete('spec.runStrategy was set to Halted later'), at);
  }
  return next;
};

export const isSameRequest = (
  a: Pick<StateChangeRequest, 'action' | 'uid'>,
  b: Pick<StateChangeRequest, 'action' | 'uid'> | undefined,
): boolean => a.action === b?.action && a.uid === b.uid;

/** Which of the settled requests the list still shows at its head: the writer removes them from there, oldest first. */
export const stillShown = (settled: SettledRequest[], shown: StateChangeRequest[]): SettledRequest[] => {
  for (let gone = 0; gone < settled.length; gone += 1) {
    const rest = settled.slice(gone);
    if (rest.every((request, index) => isSameRequest(request, shown[index]))) return rest;
  }
  return [];
};

/** The shortest grace period that pending stops of the instance ask for, in seconds; undefined: its own. */
export const askedGrace = (state: VirtualMachineState): number | undefined => {
  const seconds = pendingRequests(state)
    .filter(({ action, uid }) => action === 'Stop' && uid === state.instance?.vmi.uid)
    .map(({ data }) => Number(data?.['gracePeriodSeconds'] ?? NaN))
    .filter((asked) => Number.isInteger(asked) && asked >= 0);
  return seconds.length === 0 ? undefined : Math.min(...seconds);
};
