import type { OperationFinished, OperationProgress } from '../../api/contract/operations.ts';
import { FAILURES } from '../../api/contract/failures.ts';
import type { NodeReport } from '../../api/contract/nodes.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { isNewer } from '../../api/launcher/reports.ts';
import { adopted } from './adopted.ts';
import { endOf } from './ending.ts';
import { migrationFinished, migrationProgressed, withProposal } from './migrating.ts';
import { finalPhase, inPhase, startingFrom } from './phases.ts';
import type { Forwarded, InstanceCommand, InstanceDecision, InstanceEvent, InstanceState } from './state.ts';
import { hasLostNode, shallEnd } from './state.ts';

const only = (state: InstanceState): InstanceDecision => ({ state, commands: [] });

/** Takes an event into the state, and passes on to the operation under way what concerns it. */
export const absorb = (state: InstanceState, event: InstanceEvent, at: string): InstanceDecision => {
  switch (event.type) {
    case 'instanceObserved':
      return instanceObserved(state, event.facts);
    case 'podObserved': {
      const { facts } = event;
      // A Pod that is not ours only informs; the operation knows whether it is its own.
      const isOurs = facts.uid === state.pod?.uid && state.podFacts?.gone !== true;
      const seen = isOurs ? withFacts(state, facts) : heard(state, facts);
      return { state: seen, commands: forward(seen, { signal: 'podChanged', facts }) };
    }
    case 'domainReported': {
      const { report } = event;
      if (report.vmi.uid !== state.ref.uid) return only(state);
      const seen = withGuest(withDomain(withoutTimer(state), report), at);
      return { state: seen, commands: forward(seen, { signal: 'domainChanged', report }) };
    }
    case 'dependencyChanged':
      return dependencyChanged(state, event.kind);
    case 'operationProgress': {
      const { progress } = event;
      return only(progress.kind === 'migrate' ? migrating(state, progress) : progressed(state, progress, at));
    }
    case 'migrationProposed':
      return only(withProposal(state, event.proposal));
    case 'nodeReported':
      return hostReported(state, event.report);
    case 'operationFinished':
      return only(finished(state, event.finished, at));
    case 'operationLost':
      return only(event.id === state.operation?.id ? lookAgain(state) : state);
    case 'operationExists':
      return only(event.id === state.operation?.id && !event.isOpen ? lookAgain(withSettled(state)) : state);
    case 'retryRequested':
      return only(retried(state));
    case 'adopted': {
      const seen = adopted(state, event.found, at);
      // The operation may have told its end before we knew of it: asked, it tells it again, or it is not there any more.
      return { state: seen, commands: forward(seen, { signal: 'ping' }) };
    }
    case 'released': {
      const { epoch: _, ...rest } = state;
      return only({ ...rest, release: 'done' });
    }
    case 'timerFired':
      return only(state);
  }
};

/** A launcher that speaks can be asked: no need to wait any longer. */
const withoutTimer = ({ wakeAt: _, ...state }: InstanceState): InstanceState => state;

const forward = ({ operation }: InstanceState, message: Forwarded): InstanceCommand[] =>
  operation === undefined ? [] : [{ type: 'forward', id: operation.id, message }];

const instanceObserved = (state: InstanceState, facts: NonNullable<InstanceState['object']>): InstanceDecision => {
  if (facts.vmi.uid !== state.ref.uid || state.object?.gone === true) return only(state);
  // A deletion is never taken back.
  const deleting = facts.deleting || state.object?.deleting === true;
  // Nothing is left to read of an object that is gone: its guest still has the grace period that it had.
  const object = facts.gone === true && state.object !== undefined ? { ...state.object, gone: true } : facts;
  const seen = { ...state, object: { ...object, deleting } };
  const known = startingFrom(seen, facts.phase);
  // The user may have changed what a waiting step waits for; a sweep that tells what is known asks whether the operation still runs.
  const isNews = facts.resourceVersion !== state.object?.resourceVersion && facts.gone !== true;
  return { state: known, commands: forward(known, { signal: isNews ? 'wake' : 'ping' }) };
};

const withFacts = (state: InstanceState, facts: NonNullable<InstanceState['podFacts']>): InstanceState => {
  const provenEnded = facts.provenEnded || state.podFacts?.provenEnded === true;
  const seen = { ...state, podFacts: { ...facts, provenEnded } };
  const hasNews = facts.provenEnded || facts.gone === true;
  // The proof that a shutdown may have failed for lack of.
  return hasNews && state.failed?.kind === 'shutdown' ? retried(seen) : seen;
};

const heard = (state: InstanceState, facts: NonNullable<InstanceState['podFacts']>): InstanceState => {
  const { operation, target, pod, former } = state;
  if (facts.uid === former?.uid && facts.gone === true) {
    const { former: _, ...rest } = state;
    return rest;
  }
  if (facts.uid === target?.pod.uid) return { ...state, target: { ...target, facts } };
  const mayBeNew =
    operation?.kind === 'start' || (operation?.kind === 'migrate' && facts.migration?.uid === operation.migration?.uid);
  return mayBeNew && facts.uid !== pod?.uid ? { ...state, heard: facts } : state;
};

/** Only the Pod that holds the token speaks for the VMI; what a migration's target says counts once the guest is there. */
const withDomain = (state: InstanceState, report: DomainReport): InstanceState => {
  const { pod, domain, target } = state;
  if (report.podUid === pod?.uid) return isNewer(report, domain) ? { ...state, domain: report } : state;
  if (report.podUid !== target?.pod.uid || !isNewer(report, target.domain)) return state;
  return { ...state, target: { ...target, domain: report } };
};

/** The guest runs as soon as its launcher says so; what is left of its start changes nothing for its users. */
const withGuest = (state: InstanceState, at: string): InstanceState =>
  state.operation?.kind === 'start' && state.domain?.state === 'running' ? inPhase(state, 'Running', at) : state;

/** What waits for a node, or for proof that a guest is gone, looks again. A shutdown that failed for lack of that proof is tried again. */
const hostReported = (state: InstanceState, report: NodeReport): InstanceDecision => {
  const { host: _, ...rest } = state;
  const seen: InstanceState = report.standing === 'responsive' ? rest : { ...rest, host: report };
  const isProof = report.standing === 'fenced' && seen.failed?.kind === 'shutdown';
  return { state: isProof ? retried(seen) : seen, commands: forward(seen, { signal: 'wake' }) };
};

/** Failures that a change of the cluster's configuration may have cured. */
const CURED_BY_CONFIGURATION = ['InvalidSpec', 'Forbidden'];

const dependencyChanged = (state: InstanceState, kind: string): InstanceDecision => {
  if (state.operation !== undefined) return { state, commands: forward(state, { signal: 'wake' }) };
  if (state.failed === undefined) return only(state);
  const { type } = state.failed.failure;
  const isCured =
    type === 'Unknown' || FAILURES[type].retryable || (kind === 'KubeVirt' && CURED_BY_CONFIGURATION.includes(type));
  return only(isCured ? retried(state) : state);
};

const retried = (state: InstanceState): InstanceState => {
  const { failed, ...rest } = state;
  return failed === undefined ? state : { ...rest, retryOf: failed.id };
};

/** The operation is not what we took it for. Whatever it did is found by looking at the world. */
const lookAgain = (state: InstanceState): InstanceState => {
  const { operation: _, wakeAt: _wakeAt, target: _target, former: _former, ...rest } = state;
  return { ...rest, adoption: 'needed', adoptionRounds: 0 };
};

/** A migration whose id is taken by a run that is over has succeeded. */
const withSettled = (state: InstanceState): InstanceState => {
  const { operation, settled } = state;
  if (operation?.migration === undefined) return state;
  return { ...state, settled: [...settled.filter((uid) => uid !== operation.migration?.uid), operation.migration.uid] };
};

const migrating = (state: InstanceState, progress: OperationProgress): InstanceState => {
  if (progress.operationId === state.ended) return state;
  const seen = migrationProgressed(state, progress);
  if (seen.operation?.id !== progress.operationId) return seen;
  const { trouble: _, ...operation } = seen.operation;
  const trouble = progress.trouble === undefined ? {} : { trouble: progress.trouble.failure };
  return { ...seen, operation: { ...operation, phase: progress.phase, ...trouble } };
};

const progressed = (state: InstanceState, progress: OperationProgress, at: string): InstanceState => {
  const { operation } = state;
  if (operation === undefined || operation.id !== progress.operationId) return state;
  const { trouble: _, ...rest } = operation;
  const { pod, epoch, trouble } = progress;
  const seen: InstanceState = {
    ...state,
    operation: { ...rest, phase: progress.phase, ...(trouble === undefined ? {} : { trouble: trouble.failure }) },
    ...(epoch === undefined || operation.kind !== 'start' ? {} : { epoch }),
  };
  if (operation.kind !== 'start') return seen;
  const placed = pod === undefined ? seen : withPod(seen, pod);
  return inPhase(placed, progress.phase, at);
};

const withPod = (state: InstanceState, pod: NonNullable<InstanceState['pod']>): InstanceState => {
  if (state.pod?.uid === pod.uid) return { ...state, pod };
  const { podFacts: _facts, domain: _domain, heard: facts, ...rest } = state;
  return { ...rest, pod, ...(facts?.uid === pod.uid ? { podFacts: facts } : {}) };
};

const withoutPod = (state: InstanceState, uid: string | undefined): InstanceState => {
  const leftovers = state.leftovers.filter((pod) => pod.uid !== uid);
  if (uid !== undefined && state.pod?.uid !== uid) return { ...state, leftovers };
  const { pod: _pod, podFacts: _facts, domain: _domain, epoch: _epoch, witnessed: _witnessed, ...rest } = state;
  return { ...rest, leftovers, started: false };
};

const finished = (state: InstanceState, report: OperationFinished, at: string): InstanceState => {
  const { operation, ...rest } = state;
  if (report.operationId === state.ended) return state;
  if (operation === undefined || operation.id !== report.operationId) return unexpected(state, report);
  const ended = { ...rest, ended: operation.id };
  switch (report.kind) {
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
  const { pod, epoch, failure } = report;
  const placed = {
    ...(pod === undefined ? withoutPod(state, undefined) : withPod(state, pod)),
    ...(epoch === undefined || pod === undefined ? {} : { epoch }),
  };
  if (report.outcome === 'succeeded') return inPhase({ ...placed, started: true }, 'Running', at);
  if (failure === undefined || (report.outcome === 'cancelled' && shallEnd(state))) return placed;
  if (pod === undefined && hasLostNode(state)) return inPhase({ ...placed, end: 'nodeLost' }, 'Failed', at);
  const left = { ...placed, failed: { id, kind: 'start', failure } as const };
  if (failure.type !== 'PodFailed') return left;
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
