import type { ObjectRef } from '../../api/contract/refs.ts';
import { migrationId, shutdownId, startId } from '../../api/contract/refs.ts';
import { absorb } from './absorb.ts';
import { setAside } from './clearing.ts';
import { bringForward, reasonToStop } from './ending.ts';
import { answerProposals, reasonToCancel } from './migrating.ts';
import { inPhase } from './phases.ts';
import type { BeginOperation, InstanceCommand, InstanceDecision, InstanceEvent, InstanceState } from './state.ts';
import { hasLostNode, shallEnd } from './state.ts';
import { after } from '../shared/time.ts';

/**
 * What the entity of a VMI does: first takes the event in, then looks at what it knows and says what comes next. Pure; for every event in every state.
 * Never two operations at once, and none before the world was looked at.
 * @param at now; RFC 3339
 */
export const decide = (before: InstanceState, event: InstanceEvent, at: string): InstanceDecision => {
  const taken = absorb(before, event, at);
  const next = proceed(taken.state, at);
  return { state: next.state, commands: [...taken.commands, ...next.commands] };
};

const nothing = (state: InstanceState): InstanceDecision => ({ state, commands: [] });

const proceed = (state: InstanceState, at: string): InstanceDecision => {
  if (state.adoption === 'underWay') return nothing(state);
  if (isUntouched(state)) return proceed({ ...state, adoption: 'done' }, at);
  if (state.adoption === 'needed') return adopt(state, at);
  if (state.proposals.length === 0) return goOn(state, at);
  const answered = answerProposals(state);
  const next = goOn(answered.state, at);
  return { state: next.state, commands: [...answered.commands, ...next.commands] };
};

/**
 * A new VMI whose status nobody has written has no guest, and at most what its first start has made before it could write that: the same start finds it
 * again, or still runs (docs/adr/0027).
 */
const isUntouched = ({ adoption, object, attempts, operation }: InstanceState): boolean =>
  adoption === 'needed' && object?.untouched === true && attempts.start === 0 && operation === undefined;

const goOn = (state: InstanceState, at: string): InstanceDecision => {
  if (state.operation !== undefined) return steer(state, state.operation, at);
  if (state.takeUp !== undefined) return takeUp(state, state.takeUp);
  if (state.failed !== undefined && !(state.failed.kind === 'start' && shallEnd(state))) return nothing(state);
  if (state.pod !== undefined || state.leftovers.length > 0) return endPod(state, at);
  if (state.clearing !== undefined) return nothing(state);
  if (state.end !== undefined) return release(state);
  // Deleted before a guest ever ran.
  if (shallEnd(state)) return release(inPhase({ ...state, end: 'neverRan' }, 'Failed', at));
  return begin(state, { kind: 'start', attempt: state.attempts.start + 1 });
};

const adopt = (state: InstanceState, at: string): InstanceDecision => {
  if (state.wakeAt !== undefined && state.wakeAt > at && !shallEnd(state)) return nothing(state);
  const { wakeAt: _, ...rest } = state;
  return { state: { ...rest, adoption: 'underWay' }, commands: [{ type: 'adopt', attempts: state.attempts }] };
};

/**
 * While an operation runs: a start or migration is cancelled when its VMI shall end, a shutdown's deadline follows a shorter grace period. A migration
 * that has nothing left to do but to clear up is not waited for.
 */
const steer = (
  state: InstanceState,
  operation: NonNullable<InstanceState['operation']>,
  at: string,
): InstanceDecision => {
  if (operation.kind !== 'shutdown') {
    const isInVain = operation.kind === 'start' ? shallEnd(state) || hasLostNode(state) : reasonToCancel(state);
    if (isInVain && operation.stays === true) return goOn(setAside(state, operation), at);
    if (!isInVain || operation.cancelling === true) return nothing(state);
    const cancelling = { ...operation, cancelling: true };
    return { state: { ...state, operation: cancelling }, commands: [{ type: 'cancel', id: operation.id }] };
  }
  const sooner = bringForward(operation, state.object, at);
  if (sooner === undefined) return nothing(state);
  const message = { signal: 'bringForward', deadline: sooner.deadline } as const;
  return {
    state: { ...state, operation: { ...operation, ...sooner } },
    commands: [{ type: 'forward', id: operation.id, message }],
  };
};

/** A Pod is there and no operation: either its guest runs on, or it is shut down. */
const endPod = (state: InstanceState, at: string): InstanceDecision => {
  const { pod, leftovers, epoch } = state;
  const why = reasonToStop(state);
  const runsOn = pod !== undefined && state.started && why === undefined;
  // What holds nothing goes first: the token is released with the Pod that it is bound to.
  const target = state.started && !runsOn ? pod : (leftovers[0] ?? (runsOn ? undefined : pod));
  if (target === undefined) return nothing(state);
  const graceSeconds = state.object?.gracePeriodSeconds ?? 30;
  const isLast = target === pod || (pod === undefined && leftovers.length === 1);
  const end = state.witnessed ?? why?.end;
  const isGuests = target === pod && state.started;
  return begin(
    state,
    {
      kind: 'shutdown',
      attempt: state.attempts.shutdown + 1,
      pod: target,
      deadline: after(at, graceSeconds * 1000),
      cause: isGuests && why !== undefined ? why.cause : 'startCancelled',
      ...(isLast && epoch !== undefined ? { epoch } : {}),
      ...(isGuests && end !== undefined ? { end } : {}),
    },
    graceSeconds,
  );
};

const begin = (state: InstanceState, operation: BeginOperation, graceSeconds?: number): InstanceDecision => {
  const { failed: _failed, retryOf, ...rest } = state;
  const { kind, attempt } = operation;
  const id = idOf(state.ref, operation);
  const owner = state.object?.owner;
  const command: InstanceCommand = {
    ...{ type: 'begin', id, operation: retryOf === undefined ? operation : { ...operation, retryOf } },
    ...(owner === undefined ? {} : { owner }),
  };
  return {
    state: {
      ...rest,
      attempts: { ...state.attempts, [kind]: attempt },
      operation: {
        ...{ id, kind, attempt, phase: '' },
        ...(operation.kind === 'shutdown' ? { deadline: operation.deadline, cause: operation.cause } : {}),
        ...(operation.kind === 'migrate' ? { migration: operation.migration } : {}),
        ...(graceSeconds === undefined ? {} : { graceSeconds }),
      },
    },
    commands: [command],
  };
};

const idOf = (ref: ObjectRef, operation: BeginOperation): string => {
  switch (operation.kind) {
    case 'start':
      return startId(ref, operation.attempt);
    case 'shutdown':
      return shutdownId(ref, operation.attempt);
    case 'migrate':
      return migrationId(operation.migration);
  }
};

/** What a migration that does not run any more has left is its own to bring to an end: it knows who may hold the guest. */
const takeUp = ({ takeUp: _, ...state }: InstanceState, migration: ObjectRef): InstanceDecision =>
  begin(state, { kind: 'migrate', attempt: 1, migration });

/** The VMI is final; with its deletion its finalizers go, and a token that no Pod was created under. */
const release = (state: InstanceState): InstanceDecision => {
  const { object, epoch } = state;
  const hasSomething = object?.gone === true ? epoch !== undefined : object?.deleting === true;
  if (!hasSomething || state.release !== undefined) return nothing(state);
  const command: InstanceCommand = { type: 'release', ...(epoch === undefined ? {} : { epoch }) };
  return { state: { ...state, release: 'underWay' }, commands: [command] };
};
