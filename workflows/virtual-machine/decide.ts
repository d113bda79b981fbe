import { absorb } from './absorb.ts';
import type {
  VirtualMachineCommand,
  VirtualMachineDecision,
  VirtualMachineEvent,
  VirtualMachineState,
} from './state.ts';
import { isFinal, isSupported, pendingRequests } from './state.ts';

/**
 * What the entity of a VM does: takes the event in, then looks at what it knows and says what comes next. Pure; for every event in every state. One
 * activity that acts for the VM at a time, none before the world was looked at.
 * @param at now; RFC 3339
 */
export const decide = (before: VirtualMachineState, event: VirtualMachineEvent, at: string): VirtualMachineDecision => {
  const { wakeAt: _, ...state } = absorb(before, event, at);
  return proceed(state, at);
};

const nothing = (state: VirtualMachineState): VirtualMachineDecision => ({ state, commands: [] });

const act = (state: VirtualMachineState, command: VirtualMachineCommand): VirtualMachineDecision => ({
  state: { ...state, busy: command.type },
  commands: [command],
});

const wait = (state: VirtualMachineState, until: string): VirtualMachineDecision =>
  nothing({ ...state, wakeAt: until });

const proceed = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { busy, object, instance, refused } = state;
  if (busy !== undefined || object === undefined || state.released) return nothing(state);
  if (refused !== undefined && refused.command !== 'create' && refused.retryAt !== undefined && refused.retryAt > at) {
    return wait(state, refused.retryAt);
  }
  if (state.adoption === 'needed') return act(state, { type: 'adopt' });
  if (object.deleting) return instance === undefined ? act(state, { type: 'release' }) : remove(state);
  const settled = settleHead(state);
  if (settled !== undefined) return proceed(settled, at);
  if (pendingRequests(state)[0]?.action === 'Stop') return remove(state);
  return isCarriedOut(object) ? followStrategy(state, at) : nothing(state);
};

const isCarriedOut = ({ invalid, runStrategy }: NonNullable<VirtualMachineState['object']>): boolean =>
  invalid === undefined && isSupported(runStrategy);

const followStrategy = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { object, instance } = state;
  if (object?.runStrategy === 'Halted') return instance === undefined ? nothing(state) : remove(state);
  if (instance === undefined) return create(state, at);
  return isFinal(instance) ? remove(state) : nothing(state);
};

/** Halted never starts, and what is not carried out says so in a condition: a start that was asked for is over with that answer. */
const startsOnRequest = (object: VirtualMachineState['object']): boolean =>
  object !== undefined && isCarriedOut(object) && object.runStrategy !== 'Halted';

/** The head of the list, if it asks for nothing that is still to be done (KubeVirt: only the head is ever looked at). */
const settleHead = (state: VirtualMachineState): VirtualMachineState | undefined => {
  const { instance, object } = state;
  const head = pendingRequests(state)[0];
  if (head === undefined) return undefined;
  const isSettled =
    head.action === 'Stop'
      ? instance === undefined || head.uid === undefined || head.uid !== instance.vmi.uid
      : head.action === 'Start'
        ? !startsOnRequest(object) || (instance !== undefined && !instance.deleting && !isFinal(instance))
        : true;
  return isSettled ? { ...state, settled: [...state.settled, head] } : undefined;
};

const create = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { refused, startFailures, object } = state;
  const request = pendingRequests(state)[0];
  if (refused?.command === 'create' && refused.generation === object?.generation) {
    if (refused.retryAt === undefined) return nothing(state);
    if (refused.retryAt > at) return wait(state, refused.retryAt);
  }
  // Whoever asks for a start now does not want to wait for the back-off.
  if (startFailures !== undefined && request?.action !== 'Start' && startFailures.retryAt > at) {
    return wait(state, startFailures.retryAt);
  }
  const paused = request?.action === 'Start' && request.data?.['paused'] === 'true';
  return act(state, { type: 'create', ...(paused ? { paused } : {}) });
};

const remove = (state: VirtualMachineState): VirtualMachineDecision => {
  const { instance } = state;
  if (instance === undefined || instance.deleting) return nothing(state);
  const asked = pendingRequests(state)[0]?.data?.['gracePeriodSeconds'];
  const gracePeriodSeconds = asked === undefined ? NaN : Number(asked);
  return act(state, {
    ...{ type: 'delete', instance: instance.vmi },
    ...(Number.isInteger(gracePeriodSeconds) && gracePeriodSeconds >= 0 ? { gracePeriodSeconds } : {}),
  });
};
