import type { PodFacts } from '../../api/contract/facts.ts';
import type { GuestEnd } from '../../api/contract/operations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { after } from '../shared/time.ts';
import type { Found } from './found.ts';
import { leftBehind } from './left-behind.ts';
import { finalPhase, inPhase, startingFrom } from './phases.ts';
import type { InstanceState } from './state.ts';

/** How often a launcher that should be there and does not answer is asked before its Pod is shut down; 10, 20, … s apart. */
const PATIENCE_ROUNDS = 5;

/**
 * What an entity that knows nothing (or no longer trusts what it knows) makes of the world: a running guest is taken over as it is, a running operation
 * is waited for, a Pod that holds nothing is to be removed before a start.
 */
export const adopted = (state: InstanceState, found: Found, at: string): InstanceState => {
  const object = found.instance ?? (state.object === undefined ? undefined : { ...state.object, gone: true });
  const seen: InstanceState = {
    ...forgetWorld(state),
    ...(object === undefined
      ? {}
      : { object: { ...object, deleting: object.deleting || state.object?.deleting === true } }),
    adoption: 'done',
    attempts: { ...state.attempts, start: Math.max(state.attempts.start, attemptOf(state, found)) },
  };
  const known = object === undefined ? seen : startingFrom(seen, object.phase);
  const holding = ofToken(state, found);
  const { operation, clearing } = openOperations(state, found);
  const placed = besides(place(known, found, holding), found, clearing);
  if (operation !== undefined) {
    const attempts = {
      ...placed.attempts,
      [operation.kind]: Math.max(placed.attempts[operation.kind], operation.attempt),
    };
    // What else is there is the migration's to judge.
    const others = operation.kind === 'migrate' ? { leftovers: [] } : {};
    return { ...placed, ...others, attempts, operation: { ...operation, phase: '' } };
  }
  const left = clearing === undefined ? leftBehind(state, found) : undefined;
  // Whatever else is left may be a part of it.
  if (left !== undefined) return { ...placed, takeUp: left, leftovers: [] };
  if (isUnclear(placed, found) && state.adoptionRounds < PATIENCE_ROUNDS) {
    const rounds = state.adoptionRounds + 1;
    return { ...placed, adoption: 'needed', adoptionRounds: rounds, wakeAt: after(at, rounds * 10_000) };
  }
  return withEnd(placed, at);
};

/** A migration that was set aside stays so. */
const openOperations = ({ clearing }: InstanceState, found: Found): Pick<Found, 'operation' | 'clearing'> => {
  const { operation, ...rest } = found;
  return operation !== undefined && operation.id === clearing?.id ? { ...rest, clearing: operation } : found;
};

/** What the migration that clears up has as its target is its own to remove. */
const besides = (state: InstanceState, { pods }: Found, clearing: Found['clearing']): InstanceState => {
  if (clearing === undefined) return state;
  const facts = pods.find(({ migration, gone }) => migration?.uid === clearing.migration?.uid && gone !== true);
  const leftovers = state.leftovers.filter(({ uid }) => uid !== facts?.uid);
  const target = facts === undefined ? {} : { target: { pod: refOf(facts), facts } };
  return { ...state, ...target, leftovers, clearing: { id: clearing.id } };
};

const forgetWorld = (state: InstanceState): InstanceState => {
  const { pod: _pod, podFacts: _facts, epoch: _epoch, domain: _domain, wakeAt: _wakeAt, ...rest } = state;
  const { takeUp: _takeUp, target: _target, former: _former, clearing: _clearing, ...known } = rest;
  return { ...known, leftovers: [], started: false };
};

/** The token's holder, if it is this VMI. */
const ofToken = (state: InstanceState, { token }: Found): { epoch: number; podUid?: string } | undefined => {
  if (token?.holder?.vmiUid !== state.ref.uid) return undefined;
  const { podUid } = token.holder;
  return { epoch: token.epoch, ...(podUid === undefined ? {} : { podUid }) };
};

/** Highest attempt of a start that left something behind. */
const attemptOf = (state: InstanceState, { pods, token }: Found): number => {
  const ofPods = pods.filter(({ createdBy }) => createdBy === state.ref.uid).map(({ attempt }) => attempt ?? 0);
  const ofHolder = token?.holder?.vmiUid === state.ref.uid ? (token.holder.attempt ?? 0) : 0;
  return Math.max(0, ofHolder, ...ofPods);
};

const ACTIVE: DomainReport['state'][] = ['starting', 'running', 'paused', 'shuttingDown'];

const isActive = (report: DomainReport | undefined): boolean => report !== undefined && ACTIVE.includes(report.state);

const place = (state: InstanceState, found: Found, token: ReturnType<typeof ofToken>): InstanceState => {
  const there = found.pods.filter(({ gone }) => gone !== true);
  const active = there.filter(({ uid }) => isActive(found.domains[uid]));
  const held = (pods: PodFacts[]): PodFacts | undefined => pods.find(({ uid }) => uid === token?.podUid);
  // While a migration moves the guest the token's holder speaks for it, whichever of the two has it. Its target holds nothing by itself.
  const isMoving = found.token?.moving !== undefined && token?.podUid !== undefined;
  const chosen = isMoving
    ? held(there)
    : (held(active) ?? active[0] ?? held(there) ?? there.find(({ migration }) => migration === undefined));
  const epoch = token === undefined ? {} : { epoch: token.epoch };
  if (chosen === undefined) return withLostPod({ ...state, ...epoch }, found, token);
  const domain = found.domains[chosen.uid];
  return {
    ...{ ...state, ...epoch, pod: refOf(chosen), podFacts: chosen, started: hasStarted(state, domain) },
    ...(domain === undefined ? {} : { domain }),
    leftovers: there.filter((pod) => pod !== chosen && !isActive(found.domains[pod.uid])).map(refOf),
  };
};

/** The launcher's word counts; without it, what the VMI's status says. */
const hasStarted = ({ phase }: InstanceState, domain: DomainReport | undefined): boolean =>
  isActive(domain) || domain?.state === 'shutoff' || domain?.state === 'crashed' || phase === 'Running';

/** The token is bound to a Pod that the API server does not have: gone is no proof, so it still has to be shut down. */
const withLostPod = (state: InstanceState, { token }: Found, holding: ReturnType<typeof ofToken>): InstanceState => {
  if (holding?.podUid === undefined) return state;
  const { podName, node } = token?.holder ?? {};
  const pod: PodRef = {
    name: podName ?? `virt-launcher-${state.ref.name}`,
    uid: holding.podUid,
    ...(node === undefined ? {} : { node }),
  };
  const podFacts: PodFacts = {
    ...{ name: pod.name, uid: pod.uid, resourceVersion: '', createdBy: state.ref.uid, phase: 'Unknown' },
    ...{ deleting: false, computeReady: false, provenEnded: false, gone: true },
  };
  return { ...state, pod, podFacts, started: state.phase === 'Running' };
};

/** A launcher that should be there does not answer, and the VMI's status does not tell whether its domain runs. */
const isUnclear = ({ pod, podFacts, started, object }: InstanceState, { domains }: Found): boolean =>
  pod !== undefined &&
  podFacts?.node !== undefined &&
  domains[pod.uid] === undefined &&
  !podFacts.provenEnded &&
  !started &&
  object?.deleting !== true;

/** A VMI whose status is final stays so; one that ran and has neither Pod nor token ended without a witness. */
const withEnd = (state: InstanceState, at: string): InstanceState => {
  if (state.end !== undefined) return state;
  const end: GuestEnd | undefined =
    state.phase === 'Succeeded'
      ? 'guestShutdown'
      : state.phase === 'Failed' || (state.phase === 'Running' && state.pod === undefined)
        ? (state.witnessed ?? 'unknown')
        : undefined;
  if (end === undefined) return state;
  return inPhase({ ...state, end }, finalPhase(end), at);
};

const refOf = ({ name, uid, node }: PodFacts): PodRef => ({ name, uid, ...(node === undefined ? {} : { node }) });
