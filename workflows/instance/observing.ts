import type { PodFacts } from '../../api/contract/facts.ts';
import { FAILURES } from '../../api/contract/failures.ts';
import type { NodeReport } from '../../api/contract/nodes.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { isNewer } from '../../api/launcher/reports.ts';
import { forward } from './forward.ts';
import { retried } from './operating.ts';
import { isGoodNewsOfDomain, isGoodNewsOfPod } from './start-news.ts';
import { asRunning, asScheduled, inPhase, startingFrom } from './phases.ts';
import { isOfStart, withPod } from './placing.ts';
import type { InstanceDecision, InstanceState } from './state.ts';

const only = (state: InstanceState): InstanceDecision => ({ state, commands: [] });

/** The object has changed, or is told again. */
export const instanceObserved = (
  state: InstanceState,
  facts: NonNullable<InstanceState['object']>,
): InstanceDecision => {
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

/** A Pod that is not ours only informs; the operation knows whether it is its own. */
export const podObserved = (
  state: InstanceState,
  facts: NonNullable<InstanceState['podFacts']>,
  at: string,
): InstanceDecision => {
  const known = state.pod === undefined ? heardOfStart(state, facts, at) : state;
  const isOurs = facts.uid === known.pod?.uid && known.podFacts?.gone !== true;
  const seen = isOurs ? withGuest(asScheduled(withFacts(known, facts), at), at) : heard(known, facts);
  const isNoNews = isOnItsWay(facts) || isGoodNewsOfPod(seen, facts);
  return { state: seen, commands: isNoNews ? [] : forward(seen, { signal: 'podChanged', facts }) };
};

/** Containers run in the Pod of a start that has told nothing of it: that is a phase of the VMI. */
const heardOfStart = (state: InstanceState, facts: PodFacts, at: string): InstanceState => {
  const { name, uid, node, computeReady } = facts;
  if (node === undefined || !computeReady || !isOfStart(state, facts)) return state;
  return inPhase(withPod(state, { name, uid, node }), 'Scheduling', at);
};

/** It was created, and nothing has become of it yet. */
const isOnItsWay = ({ node, phase, unschedulable, waiting, deleting, gone }: PodFacts): boolean =>
  node === undefined && phase === 'Pending' && !unschedulable && !waiting && !deleting && gone !== true;

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

/** A launcher says how its domain is. */
export const domainReported = (state: InstanceState, report: DomainReport, at: string): InstanceDecision => {
  if (report.vmi.uid !== state.ref.uid) return only(state);
  const seen = withGuest(withDomain(withoutTimer(state), report), at);
  const before = [state.domain, state.target?.domain, state.heardDomain].find(
    (known) => known?.podUid === report.podUid,
  );
  const isKnown = before !== undefined && essence(before) === essence(report);
  const isNoNews = isKnown || isGoodNewsOfDomain(seen, report);
  return { state: seen, commands: isNoNews ? [] : forward(seen, { signal: 'domainChanged', report }) };
};

/** What an operation has use for. */
const essence = ({ state, end, pausedBy, deadline, migrationUid, tokenEpoch }: DomainReport): string =>
  JSON.stringify([state, end, pausedBy, deadline, migrationUid, tokenEpoch]);

/** A launcher that speaks can be asked: no need to wait any longer. */
const withoutTimer = ({ wakeAt: _, ...state }: InstanceState): InstanceState => state;

/** Only the Pod that holds the token speaks for the VMI; what a migration's target says counts once the guest is there. */
const withDomain = (state: InstanceState, report: DomainReport): InstanceState => {
  const { pod, domain, target, operation, heardDomain } = state;
  if (report.podUid === pod?.uid) return isNewer(report, domain) ? { ...state, domain: report } : state;
  if (pod === undefined && operation?.kind === 'start')
    return isNewer(report, heardDomain) ? { ...state, heardDomain: report } : state;
  if (report.podUid !== target?.pod.uid || !isNewer(report, target.domain)) return state;
  return { ...state, target: { ...target, domain: report } };
};

/** The guest runs as soon as its launcher says so; what is left of its start changes nothing for its users. */
const withGuest = (state: InstanceState, at: string): InstanceState =>
  state.operation?.kind === 'start' && state.domain?.state === 'running' ? asRunning(state, at) : state;

/** Failures that a change of the cluster's configuration may have cured. */
const CURED_BY_CONFIGURATION = ['InvalidSpec', 'Forbidden'];

/** What a start waits for may be there. */
export const dependencyChanged = (state: InstanceState, kind: string): InstanceDecision => {
  if (state.operation !== undefined || state.clearing !== undefined)
    return { state, commands: forward(state, { signal: 'wake' }) };
  if (state.failed === undefined) return only(state);
  const { type } = state.failed.failure;
  const isCured =
    type === 'Unknown' || FAILURES[type].retryable || (kind === 'KubeVirt' && CURED_BY_CONFIGURATION.includes(type));
  return only(isCured ? retried(state) : state);
};

/** What waits for a node, or for proof that a guest is gone, looks again. A shutdown that failed for lack of that proof is tried again. */
export const hostReported = (state: InstanceState, report: NodeReport): InstanceDecision => {
  const { host: _, ...rest } = state;
  const seen: InstanceState = report.standing === 'responsive' ? rest : { ...rest, host: report };
  const isProof = report.standing === 'fenced' && seen.failed?.kind === 'shutdown';
  return { state: isProof ? retried(seen) : seen, commands: forward(seen, { signal: 'wake' }) };
};
