import type { OperationFinished, OperationProgress } from '../../api/contract/operations.ts';
import { cleared } from './clearing.ts';
import { endOf } from './ending.ts';
import { migrationFinished, migrationProgressed } from './migrating.ts';
import { asRunning, asScheduled, finalPhase, inPhase, withStart } from './phases.ts';
import { withPod } from './placing.ts';
import { saysThatItWaits } from './start-news.ts';
import type { InstanceState } from './state.ts';
import { hasLostNode, shallEnd } from './state.ts';

/** An operation tells how far it is. */
export const operationProgressed = (state: InstanceState, progress: OperationProgress, at: string): InstanceState =>
  progress.kind === 'migrate' ? migrating(state, progress) : progressed(state, progress, at);

const migrating = (state: InstanceState, progress: OperationProgress): InstanceState => {
  if (progress.operationId === state.ended) return state;
  const seen = migrationProgressed(state, progress);
  if (seen.operation?.id !== progress.operationId) return seen;
  const { trouble: _, ...operation } = seen.operation;
  const trouble = progress.trouble === undefined ? {} : { trouble: progress.trouble.failure };
  const stays = progress.migration?.stays === true ? { stays: true } : {};
  return { ...seen, operation: { ...operation, phase: progress.phase, ...trouble, ...stays } };
};

const progressed = (state: InstanceState, progress: OperationProgress, at: string): InstanceState => {
  const { operation } = state;
  if (operation === undefined || operation.id !== progress.operationId) return state;
  const { trouble: _, ...rest } = operation;
  const { pod, epoch, trouble } = progress;
  const seen: InstanceState = {
    ...state,
    operation: {
      ...{ ...rest, phase: progress.phase },
      ...(trouble === undefined ? {} : { trouble: trouble.failure }),
      ...(saysThatItWaits(progress) ? { isWaiting: true } : {}),
    },
    ...(epoch === undefined || operation.kind !== 'start' ? {} : { epoch }),
  };
  if (operation.kind !== 'start') return seen;
  if (pod === undefined) return inPhase(seen, progress.phase, at);
  // What it tells first may be what comes after.
  const placed = inPhase(withPod(seen, pod), 'Scheduling', at);
  return asScheduled(inPhase(placed, progress.phase === 'Starting' ? 'Scheduled' : progress.phase, at), at);
};

const withoutPod = (state: InstanceState, uid: string | undefined): InstanceState => {
  const leftovers = state.leftovers.filter((pod) => pod.uid !== uid);
  if (uid !== undefined && state.pod?.uid !== uid) return { ...state, leftovers };
  const { pod: _pod, podFacts: _facts, domain: _domain, epoch: _epoch, witnessed: _witnessed, ...rest } = state;
  return { ...rest, leftovers, started: false };
};

/** An operation tells its end. */
export const operationEnded = (state: InstanceState, report: OperationFinished, at: string): InstanceState => {
  const { operation, ...rest } = state;
  if (report.operationId === state.ended) return state;
  if (report.operationId === state.clearing?.id) return cleared(state);
  if (operation === undefined || operation.id !== report.operationId) return unexpected(state, report);
  const ended = { ...rest, ended: operation.id };
  switch (operation.kind) {
    case 'start':
      return startFinished(ended, operation.id, report, at);
    case 'shutdown':
      return shutdownFinished(ended, operation, report, at);
    case 'migrate':
      return migrationFinished(ended, operation.cancelling === true, report);
  }
};

/** The end of an operation that we do not know: our history was lost. */
const unexpected = (state: InstanceState, report: OperationFinished): InstanceState => {
  const { kind, outcome, pod, operationId } = report;
  if (kind !== 'migrate') return witness(state, report);
  const asked = { ...state, proposals: state.proposals.filter((one) => one.operationId !== operationId) };
  // The guest is elsewhere than we think.
  const hasMoved = outcome === 'succeeded' && pod?.uid !== state.pod?.uid && state.adoption === 'done';
  return hasMoved && state.operation === undefined ? lookAgain(asked) : asked;
};

/** Whoever reports a guest's end, late or in vain, is a witness of it. */
const witness = (state: InstanceState, { kind, end, pod }: OperationFinished): InstanceState => {
  // The end of a Pod that holds nothing is nobody's.
  const isOfAnother = pod !== undefined && state.pod !== undefined && pod.uid !== state.pod.uid;
  return kind === 'start' || end === undefined || end === 'unknown' || isOfAnother
    ? state
    : { ...state, witnessed: end };
};

const startFinished = (state: InstanceState, id: string, report: OperationFinished, at: string): InstanceState => {
  const { pod, epoch, failure, start } = report;
  const known = {
    ...(pod === undefined ? withoutPod(state, undefined) : withPod(state, pod)),
    ...(epoch === undefined || pod === undefined ? {} : { epoch }),
  };
  const placed = start === undefined ? known : withStart(known, start);
  if (report.outcome === 'succeeded') return asRunning({ ...placed, started: true }, at);
  if (failure === undefined || (report.outcome === 'cancelled' && shallEnd(state))) return placed;
  if (pod === undefined && hasLostNode(state)) return inPhase({ ...placed, end: 'nodeLost' }, 'Failed', at);
  const left = { ...placed, failed: { id, kind: 'start', failure } as const };
  if (failure.type !== 'PodFailed' && failure.type !== 'VolumeFailed') return left;
  const { failed: _, ...final } = left;
  return inPhase({ ...final, end: 'neverRan' }, 'Failed', at);
};

const shutdownFinished = (
  state: InstanceState,
  { id, cause }: NonNullable<InstanceState['operation']>,
  report: OperationFinished,
  at: string,
): InstanceState => {
  if (report.outcome !== 'succeeded') {
    const failure = report.failure ?? { type: 'Unknown', message: 'the shutdown ended without saying why.' };
    return { ...witness(state, report), failed: { id, kind: 'shutdown', failure } };
  }
  const told = report.end ?? 'unknown';
  const end = told === 'unknown' ? (endOf(state.domain ?? {}) ?? 'unknown') : told;
  const free = withoutPod(state, report.pod?.uid);
  if (report.pod !== undefined && report.pod.uid !== state.pod?.uid) return free;
  // What was left of a start that nobody wants to end: it is started anew.
  if (cause === 'startCancelled' && end === 'neverRan' && free.object?.deleting !== true) return free;
  if (free.end !== undefined) return free;
  return inPhase({ ...free, end }, finalPhase(end), at);
};

/** What has failed is tried anew. */
export const retried = (state: InstanceState): InstanceState => {
  const { failed, ...rest } = state;
  return failed === undefined ? state : { ...rest, retryOf: failed.id };
};

/** The operation is not what we took it for. Whatever it did is found by looking at the world. */
export const lookAgain = (state: InstanceState): InstanceState => {
  const { operation: _, wakeAt: _wakeAt, target: _target, former: _former, ...rest } = state;
  return { ...rest, adoption: 'needed', adoptionRounds: 0 };
};

/** A migration whose id is taken by a run that is over has succeeded. */
export const withSettled = (state: InstanceState): InstanceState => {
  const { operation, settled } = state;
  if (operation?.migration === undefined) return state;
  return { ...state, settled: [...settled.filter((uid) => uid !== operation.migration?.uid), operation.migration.uid] };
};
