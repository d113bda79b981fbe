import { absorb } from './absorb.ts';
import { askedGrace, settleOldest } from './requests.ts';
import type {
  ActingCommand,
  VirtualMachineCommand,
  VirtualMachineDecision,
  VirtualMachineEvent,
  VirtualMachineState,
} from './state.ts';
import { isFinal, isLive, pendingRequests, pendingStart } from './state.ts';
import { clearsEnded, obstacleOf, startsNext } from './strategies.ts';

/**
 * What the entity of a VM does: takes the event in, then looks at what it knows and says what comes next. Pure; for every event in every state. One
 * activity that acts for the VM at a time, none before the world was looked at.
 * @param at now; RFC 3339
 */
export const decide = (before: VirtualMachineState, event: VirtualMachineEvent, at: string): VirtualMachineDecision => {
  const { wakeAt: _, ...state } = absorb(before, event, at);
  const { busy, object, released } = state;
  const decision = busy !== undefined || object === undefined || released ? nothing(state) : proceed(state, at);
  return { ...decision, commands: [...aboutTriggers(before, event, state), ...decision.commands] };
};

/** What changes before a trigger's operation is over is news for it. */
const NEWS = new Set<VirtualMachineEvent['type']>(['virtualMachineObserved', 'instanceObserved', 'created', 'deleted']);

const aboutTriggers = (
  before: VirtualMachineState,
  event: VirtualMachineEvent,
  { triggers = [] }: VirtualMachineState,
): VirtualMachineCommand[] => {
  if (event.type === 'triggered') {
    const isKnown = before.triggers?.some(({ id }) => id === event.trigger.id) ?? false;
    return isKnown ? [] : [{ type: 'trigger', trigger: event.trigger }];
  }
  if (!NEWS.has(event.type)) return [];
  return triggers.flatMap(({ id, open }) => (open ? [{ type: 'wakeTrigger', id }] : []));
};

const nothing = (state: VirtualMachineState): VirtualMachineDecision => ({ state, commands: [] });

const wait = (state: VirtualMachineState, until: string): VirtualMachineDecision =>
  nothing({ ...state, wakeAt: until });

/** Gives the command, unless it was refused and its time has not come; another generation of the VM is another matter. */
const act = (state: VirtualMachineState, command: ActingCommand, at: string): VirtualMachineDecision => {
  const { refused, object } = state;
  if (refused?.command === command.type && refused.generation === object?.generation) {
    if (refused.retryAt === undefined) return nothing(state);
    if (refused.retryAt > at) return wait(state, refused.retryAt);
  }
  return { state: { ...state, busy: command.type }, commands: [command] };
};

const proceed = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { object, instance } = state;
  if (object?.orphans === true) return act(state, { type: 'release' }, at);
  if (state.adoption === 'needed') return look(state, at);
  if (object?.deleting === true) return instance === undefined ? act(state, { type: 'release' }, at) : stop(state, at);
  const settled = settleOldest(state, at);
  if (settled !== undefined) return proceed(settled, at);
  if (pendingRequests(state)[0]?.action === 'Stop') return stop(state, at);
  return obstacleOf(state) === undefined ? followStrategy(state, at) : nothing(state);
};

/** What creates an instance finds the one that is there: a VM that is to start needs no other look. */
const look = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { object, instance } = state;
  const isPlain =
    instance === undefined &&
    object?.deleting === false &&
    object.stateChangeRequests.length === 0 &&
    !object.dataVolumes;
  if (isPlain && obstacleOf(state) === undefined && startsNext(state)) {
    const started = start(state, at);
    if (started.commands.length > 0) return started;
  }
  return act(state, { type: 'adopt' }, at);
};

const followStrategy = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { object, instance } = state;
  if (object?.runStrategy === 'Halted') {
    if (pendingStart(state) !== undefined) return act(state, { type: 'switchOn' }, at);
    return instance === undefined ? atRest(state, at) : stop(state, at);
  }
  if (instance === undefined) return startsNext(state) ? start(state, at) : atRest(state, at);
  if (isLive(instance) || !clearsEnded(state)) return nothing(state);
  return owesRerun(state) ? act(state, { type: 'queueStart' }, at) : stop(state, at);
};

/** An instance that failed by itself is to run again: the request outlives the entity. */
const owesRerun = (state: VirtualMachineState): boolean =>
  state.object?.runStrategy === 'RerunOnFailure' &&
  state.instance?.phase === 'Failed' &&
  !state.instance.deleting &&
  pendingStart(state) === undefined;

/** Nothing runs and nothing is to; DataVolumes are created all the same, unless they are to wait for the start. */
const atRest = (state: VirtualMachineState, at: string): VirtualMachineDecision =>
  state.object?.dataVolumes === 'now' ? (provision(state, at) ?? nothing(state)) : nothing(state);

const start = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { startFailures, object } = state;
  if (object?.manualRecovery === true) return nothing(state);
  const request = pendingStart(state);
  // Whoever asks for a start now does not want to wait for the back-off; under RerunOnFailure it may be the entity that asks.
  const isUrgent = request !== undefined && object?.runStrategy !== 'RerunOnFailure';
  if (startFailures !== undefined && !isUrgent && startFailures.retryAt > at) return wait(state, startFailures.retryAt);
  const paused = request?.data?.['paused'] === 'true';
  return provision(state, at) ?? act(state, { type: 'create', ...(paused ? { paused } : {}) }, at);
};

/** What the VM's DataVolumes need first; undefined: nothing. */
const provision = (state: VirtualMachineState, at: string): VirtualMachineDecision | undefined => {
  const { object, dataVolumes } = state;
  if (object?.dataVolumes === undefined) return undefined;
  const isKnown = dataVolumes?.generation === object.generation;
  if (isKnown && dataVolumes.state === 'ready') return undefined;
  return isKnown && dataVolumes.lookAt > at ? wait(state, dataVolumes.lookAt) : act(state, { type: 'provision' }, at);
};

/** Stops the instance; one that is being stopped already only if it is to end sooner. */
const stop = (state: VirtualMachineState, at: string): VirtualMachineDecision => {
  const { instance } = state;
  if (instance === undefined) return nothing(state);
  const gracePeriodSeconds = askedGrace(state);
  const isSooner = gracePeriodSeconds !== undefined && gracePeriodSeconds < instance.gracePeriodSeconds;
  if (instance.deleting && (!isSooner || isFinal(instance))) return nothing(state);
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  return act(state, { type: 'delete', instance: instance.vmi, ...grace }, at);
};
