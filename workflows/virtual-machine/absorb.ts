import type { InstanceFacts, VirtualMachineFacts } from '../../api/contract/facts.ts';
import { backOffMs } from '../operation/patience.ts';
import { after } from '../shared/time.ts';
import { withStartFailures } from './crash-loop.ts';
import { stillShown, supersede, withdraw } from './requests.ts';
import type { VirtualMachineEvent, VirtualMachineState } from './state.ts';
import { pendingRequests, pendingStart } from './state.ts';
import { countsFailures, withStrategyInForce } from './strategies.ts';
import { closed, remembering } from './triggers.ts';

/** Takes an event into the state. */
export const absorb = (state: VirtualMachineState, event: VirtualMachineEvent, at: string): VirtualMachineState =>
  withStrategyInForce(taken(state, event, at));

const taken = (state: VirtualMachineState, event: VirtualMachineEvent, at: string): VirtualMachineState => {
  switch (event.type) {
    case 'virtualMachineObserved':
      return virtualMachineObserved(state, event.facts, at);
    case 'changed':
      return virtualMachineObserved(done(state), event.facts, at);
    case 'published': {
      const seen = virtualMachineObserved(state, event.facts, at);
      return { ...seen, settled: seen.settled.filter(({ id }) => id > event.settled) };
    }
    case 'instanceObserved':
      return instanceObserved(state, event.facts, at);
    case 'dependencyChanged':
      return { ...withoutRefusal(state), woken: (state.woken ?? 0) + 1 };
    case 'instanceRead': {
      const read = { ...done(state), adoption: 'done' as const };
      return event.instance === undefined ? withoutInstance(read) : withInstance(read, event.instance, at);
    }
    case 'created': {
      const looked = { ...done(state), adoption: 'done' as const };
      // What was told meanwhile is newer than the answer.
      return state.instance === undefined ? withInstance(looked, event.instance, at) : looked;
    }
    case 'deleted':
      return state.instance?.vmi.uid === event.instance.vmi.uid
        ? withInstance(done(state), event.instance, at)
        : done(state);
    case 'provisioned': {
      const rounds = event.state === 'ready' ? 0 : (state.dataVolumes?.rounds ?? 0) + 1;
      const lookAt = after(at, Math.min(backOffMs(rounds), LOOK_AGAIN_MS));
      const generation = state.object?.generation ?? 0;
      return { ...done(state), dataVolumes: { state: event.state, generation, rounds, lookAt } };
    }
    case 'refused':
      return refused(idle(state), event, at);
    case 'triggered': {
      const { triggers = [] } = state;
      const { id } = event.trigger;
      return triggers.some((known) => known.id === id) ? state : { ...state, triggers: remembering(triggers, id) };
    }
    case 'triggerOver':
      return state.triggers === undefined ? state : { ...state, triggers: closed(state.triggers, event.id) };
    case 'released':
      return { ...idle(state), released: true };
    case 'vmGone':
      return { ...idle(state), released: true, vanished: true };
    case 'timerFired':
      return state;
  }
};

const idle = ({ busy: _, ...state }: VirtualMachineState): VirtualMachineState => state;
const withoutRefusal = ({ refused: _, ...state }: VirtualMachineState): VirtualMachineState => state;
const done = (state: VirtualMachineState): VirtualMachineState => withoutRefusal(idle(state));
const withoutInstance = ({ instance: _, ...state }: VirtualMachineState): VirtualMachineState => state;
const withoutStartFailures = ({ startFailures: _, ...state }: VirtualMachineState): VirtualMachineState => state;

/** More than can be on their way at once. */
const REMEMBERED = 4;
/** Longest time between two looks at DataVolumes that are being filled. */
const LOOK_AGAIN_MS = 15_000;

const withInstance = (state: VirtualMachineState, facts: InstanceFacts, at: string): VirtualMachineState => {
  const { uid } = facts.vmi;
  if (facts.gone === true) return withoutInstance(gone(state, uid));
  if (state.gone.includes(uid)) return withoutInstance(state);
  const isSame = state.instance?.vmi.uid === uid;
  // A deletion is never taken back; an answer may be older than what was told meanwhile.
  const instance = { ...facts, deleting: facts.deleting || (isSame && state.instance?.deleting === true) };
  return { ...withStartFailures(state, facts, at), instance };
};

/** The next instance looks after its DataVolumes itself: somebody may have deleted one. */
const gone = ({ dataVolumes: _, ...state }: VirtualMachineState, uid: string): VirtualMachineState => ({
  ...state,
  gone: [...state.gone, uid].slice(-REMEMBERED),
});

const virtualMachineObserved = (
  state: VirtualMachineState,
  facts: VirtualMachineFacts,
  at: string,
): VirtualMachineState => {
  if (facts.vm.uid !== state.ref.uid) return state;
  if (facts.gone === true) return { ...state, released: true, vanished: true };
  const { object: before } = state;
  if (isOlder(facts, before)) return state;
  const object = { ...facts, deleting: facts.deleting || before?.deleting === true };
  const seen = { ...state, object, settled: stillShown(state.settled, facts.stateChangeRequests) };
  if (before === undefined) return forgetful(withMemory(seen, facts));
  const known = withdraw(seen, pendingRequests(state), at);
  const isHaltedNow = before.runStrategy !== 'Halted' && facts.runStrategy === 'Halted';
  const next = isHaltedNow ? supersede(known, pendingRequests(state), at) : known;
  return forgetful(startsByHand(state, facts) ? withoutStartFailures(next) : next);
};

const forgetful = (state: VirtualMachineState): VirtualMachineState =>
  countsFailures(state.object?.runStrategy) ? state : withoutStartFailures(state);

/** Somebody asks for a start now: what failed before does not count. Under RerunOnFailure it may be the entity itself that asks. */
const startsByHand = (
  before: VirtualMachineState,
  { runStrategy, stateChangeRequests }: VirtualMachineFacts,
): boolean =>
  runStrategy !== 'RerunOnFailure' &&
  pendingStart(before) === undefined &&
  stateChangeRequests.slice(before.settled.length).some(({ action }) => action === 'Start');

/** Two tellers may cross. resourceVersions of one object are numbers that grow. */
const isOlder = (facts: VirtualMachineFacts, known: VirtualMachineFacts | undefined): boolean =>
  Number(facts.resourceVersion) < Number(known?.resourceVersion);

/** An entity without history knows from the VM's status what an earlier one has written there. */
const withMemory = (
  state: VirtualMachineState,
  { ranUnder, startFailure }: VirtualMachineFacts,
): VirtualMachineState => ({
  ...state,
  ...(ranUnder === undefined ? {} : { ranUnder }),
  ...(startFailure === undefined
    ? {}
    : {
        startFailures: { count: startFailure.count, lastUid: startFailure.uid, retryAt: startFailure.retryAt },
      }),
});

const instanceObserved = (state: VirtualMachineState, facts: InstanceFacts, at: string): VirtualMachineState => {
  const known = state.instance?.vmi.uid;
  if (facts.vmi.uid === known) return withInstance(state, facts, at);
  if (facts.gone === true) return gone(state, facts.vmi.uid);
  if (facts.owner?.uid !== state.ref.uid) return state;
  // Another instance than the one we know: which of them is there now, only a live read tells.
  return known === undefined ? withInstance(state, facts, at) : { ...state, adoption: 'needed' };
};

const refused = (
  state: VirtualMachineState,
  { command, failure, retryable }: Extract<VirtualMachineEvent, { type: 'refused' }>,
  at: string,
): VirtualMachineState => {
  const rounds = (state.refused?.command === command ? state.refused.rounds : 0) + 1;
  const generation = state.object?.generation ?? 0;
  const isFinalAnswer = command === 'create' && !retryable;
  const retryAt = isFinalAnswer ? {} : { retryAt: after(at, backOffMs(rounds)) };
  // Whatever the API server has refused, it had been asked for the instance before.
  const hasLooked = command === 'create' && failure.type !== 'Unknown';
  return {
    ...state,
    ...(hasLooked ? { adoption: 'done' } : {}),
    refused: { command, failure, generation, rounds, ...retryAt },
  };
};
