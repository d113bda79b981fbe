import type { InstanceFacts, VirtualMachineFacts } from '../../api/contract/facts.ts';
import { backOffMs } from '../operation/patience.ts';
import { after } from '../shared/time.ts';
import { withStartFailures } from './crash-loop.ts';
import type { StateChangeRequest, VirtualMachineEvent, VirtualMachineState } from './state.ts';

/** Takes an event into the state. */
export const absorb = (state: VirtualMachineState, event: VirtualMachineEvent, at: string): VirtualMachineState => {
  switch (event.type) {
    case 'virtualMachineObserved':
      return virtualMachineObserved(state, event.facts);
    case 'instanceObserved':
      return instanceObserved(state, event.facts, at);
    case 'dependencyChanged':
      return withoutRefusal(state);
    case 'instanceRead': {
      const read = { ...idle(state), adoption: 'done' as const };
      return event.instance === undefined ? withoutInstance(read) : withInstance(read, event.instance, at);
    }
    case 'created':
      // What was told meanwhile is newer than the answer.
      return state.instance === undefined ? withInstance(done(state), event.instance, at) : done(state);
    case 'deleted':
      return state.instance?.vmi.uid === event.instance.vmi.uid
        ? withInstance(done(state), event.instance, at)
        : done(state);
    case 'refused':
      return refused(idle(state), event, at);
    case 'released':
    case 'vmGone':
      return { ...idle(state), released: true };
    case 'timerFired':
      return state;
  }
};

const idle = ({ busy: _, ...state }: VirtualMachineState): VirtualMachineState => state;
const withoutRefusal = ({ refused: _, ...state }: VirtualMachineState): VirtualMachineState => state;
const done = (state: VirtualMachineState): VirtualMachineState => withoutRefusal(idle(state));
const withoutInstance = ({ instance: _, ...state }: VirtualMachineState): VirtualMachineState => state;

/** More than can be on their way at once. */
const REMEMBERED = 4;

const withInstance = (state: VirtualMachineState, facts: InstanceFacts, at: string): VirtualMachineState => {
  const { uid } = facts.vmi;
  if (facts.gone === true) return withoutInstance({ ...state, gone: [...state.gone, uid].slice(-REMEMBERED) });
  if (state.gone.includes(uid)) return withoutInstance(state);
  const isSame = state.instance?.vmi.uid === uid;
  // A deletion is never taken back; an answer may be older than what was told meanwhile.
  const instance = { ...facts, deleting: facts.deleting || (isSame && state.instance?.deleting === true) };
  return { ...withStartFailures(state, facts, at), instance };
};

const virtualMachineObserved = (state: VirtualMachineState, facts: VirtualMachineFacts): VirtualMachineState => {
  if (facts.vm.uid !== state.ref.uid) return state;
  if (facts.gone === true) return { ...state, released: true };
  const object = { ...facts, deleting: facts.deleting || state.object?.deleting === true };
  const seen = { ...state, object, settled: stillShown(state.settled, facts.stateChangeRequests) };
  return facts.runStrategy === 'Always' ? seen : withoutStartFailures(seen);
};

const withoutStartFailures = ({ startFailures: _, ...state }: VirtualMachineState): VirtualMachineState => state;

/** Which of the settled requests the list still shows at its head: the writer removes them from there, oldest first. */
const stillShown = (settled: StateChangeRequest[], shown: StateChangeRequest[]): StateChangeRequest[] => {
  for (let gone = 0; gone < settled.length; gone += 1) {
    const rest = settled.slice(gone);
    if (rest.every((request, index) => isSameRequest(request, shown[index]))) return rest;
  }
  return [];
};

const isSameRequest = (a: StateChangeRequest, b: StateChangeRequest | undefined): boolean =>
  a.action === b?.action && a.uid === b.uid;

const instanceObserved = (state: VirtualMachineState, facts: InstanceFacts, at: string): VirtualMachineState => {
  const known = state.instance?.vmi.uid;
  if (facts.vmi.uid === known) return withInstance(state, facts, at);
  if (facts.gone === true) return { ...state, gone: [...state.gone, facts.vmi.uid].slice(-REMEMBERED) };
  if (facts.owner?.uid !== state.ref.uid) return state;
  // Another instance than the one we know: which of them is there now, only a live read tells.
  return known === undefined ? withInstance(state, facts, at) : { ...state, adoption: 'needed' };
};

const refused = (
  state: VirtualMachineState,
  { command, failure, retryable }: Extract<VirtualMachineEvent, { type: 'refused' }>,
  at: string,
): VirtualMachineState => {
  const rounds = (state.refused?.rounds ?? 0) + 1;
  const generation = state.object?.generation ?? 0;
  const isFinalAnswer = command === 'create' && !retryable;
  const retryAt = isFinalAnswer ? {} : { retryAt: after(at, backOffMs(rounds)) };
  return { ...state, refused: { command, failure, generation, rounds, ...retryAt } };
};
