import type { FailureInfo } from '../../api/contract/failures.ts';
import type { MigrationAnswer } from '../../api/contract/migrations.ts';
import type { OperationFinished, OperationProgress } from '../../api/contract/operations.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import { reasonToStop } from './ending.ts';
import { goesWell } from './start-news.ts';
import type { InstanceCommand, InstanceState, Proposal } from './state.ts';
import { shallEnd } from './state.ts';

/** What the entity answers to a migration that asks to be its operation. Pure; the same proposal gets the same answer as long as it runs. */
export const answerTo = (state: InstanceState, { operationId, migration }: Proposal): MigrationAnswer => {
  const { operation, takeUp } = state;
  const isKnown = operation?.id === operationId || takeUp?.uid === migration.uid;
  if (operation !== undefined && !isKnown) return refuse('OperationUnderWay', `${operation.id} is under way`, state);
  const why = isKnown ? undefined : notMigratable(state);
  if (why !== undefined) return refuse('NotMigratable', why, state);
  const { pod, epoch } = state;
  if (pod?.node === undefined) return refuse('NotMigratable', 'it is not known on which node it runs', state);
  if (epoch === undefined) return refuse('NotMigratable', 'it holds no run token', state);
  return { accepted: true, source: { ...pod, node: pod.node }, epoch };
};

const refuse = (type: FailureInfo['type'], why: string, { ref }: InstanceState): MigrationAnswer => ({
  accepted: false,
  failure: { type, message: `VMI ${ref.namespace}/${ref.name} cannot be migrated now: ${why}.` },
});

const notMigratable = (state: InstanceState): string | undefined => {
  const { phase, started, domain } = state;
  if (shallEnd(state)) return 'it is being deleted';
  if (state.end !== undefined || phase !== 'Running' || !started) {
    return `it does not run (its phase is ${phase === '' ? 'Pending' : phase})`;
  }
  if (state.failed !== undefined) return `${state.failed.id} has failed: ${state.failed.failure.message}`;
  if (reasonToStop(state) !== undefined) return 'its guest or its Pod is ending';
  if (domain?.state === 'paused' && domain.pausedBy === 'ioError') return 'its guest is paused by an I/O error';
  if (domain?.state === 'paused' && domain.pausedBy === 'migration') return 'its guest is paused by a migration';
  const isThere = domain === undefined || domain.state === 'running' || domain.state === 'paused';
  return isThere ? undefined : `its domain is ${domain.state}`;
};

/**
 * The guest has moved and only its former Pod is left to be removed: who asks for the next migration waits for that. So does who asks while a start goes
 * well: the guest runs, or nobody would ask, and the start is about to say so.
 */
const mayWait = (state: InstanceState, { operationId, late }: Proposal): boolean => {
  const { operation } = state;
  if (operation?.kind === 'start') return late !== true && goesWell(state) && !shallEnd(state);
  return operation?.kind === 'migrate' && operation.phase === 'Succeeded' && operation.id !== operationId;
};

/** Answers all that asked and need not wait. An accepted one is the operation from now on. */
export const answerProposals = (state: InstanceState): { state: InstanceState; commands: InstanceCommand[] } => {
  let seen = state;
  const commands: InstanceCommand[] = [];
  for (const proposal of state.proposals.filter((one) => !mayWait(state, one))) {
    const { operationId: id, migration, late } = proposal;
    const answer = answerTo(seen, proposal);
    if (answer.accepted && seen.operation === undefined) {
      const { takeUp: _, ...rest } = seen;
      seen = { ...rest, operation: { id, kind: 'migrate', attempt: 1, phase: '', migration } };
    }
    commands.push(late !== true || answer.accepted ? { type: 'answer', id, answer } : { type: 'cancel', id });
  }
  return { state: { ...seen, proposals: state.proposals.filter((one) => mayWait(state, one)) }, commands };
};

/** A migration tells how far it is. One that we do not know (our history was lost) is asked in as if it had proposed itself. */
export const migrationProgressed = (state: InstanceState, progress: OperationProgress): InstanceState => {
  const { migration, pod, epoch } = progress;
  if (migration === undefined) return state;
  if (state.operation?.id !== progress.operationId) {
    // It proposes itself later, or is over and tells that too.
    if (migration.phase === 'Pending' || isOver(migration.phase)) return state;
    return withProposal(state, {
      ...{ operationId: progress.operationId, migration: migration.migration },
      late: true,
    });
  }
  const known = migration.target?.node === undefined ? state : { ...state, migration };
  if (migration.phase === 'Succeeded' && pod !== undefined && epoch !== undefined) return handedOver(known, pod, epoch);
  return migration.target === undefined || isOver(migration.phase) ? known : withTarget(known, migration.target);
};

const isOver = (phase: string): boolean => phase === 'Failed' || phase === 'Succeeded';

export const withProposal = (state: InstanceState, proposal: Proposal): InstanceState => ({
  ...state,
  proposals: [...state.proposals.filter(({ operationId }) => operationId !== proposal.operationId), proposal],
});

const withTarget = (state: InstanceState, pod: PodRef): InstanceState => {
  const known = state.target?.pod.uid === pod.uid ? state.target : undefined;
  const facts = known?.facts ?? (state.heard?.uid === pod.uid ? state.heard : undefined);
  return { ...state, target: { ...known, pod, ...(facts === undefined ? {} : { facts }) } };
};

/** The guest is in the target, which holds the token under a new epoch. */
const handedOver = (state: InstanceState, pod: PodRef, epoch: number): InstanceState => {
  if (state.pod?.uid === pod.uid) return { ...state, epoch };
  const { pod: former, podFacts: _facts, domain: _domain, target, ...rest } = withTarget(state, pod);
  const leftovers = rest.leftovers.filter(({ uid }) => uid !== pod.uid);
  return {
    ...{ ...rest, pod, epoch, started: true, leftovers },
    ...(target?.facts === undefined ? {} : { podFacts: target.facts }),
    ...(target?.domain === undefined ? {} : { domain: target.domain }),
    ...(former === undefined ? {} : { former }),
  };
};

/** However it ended, the VMI goes on with the Pod that holds its guest; a failed migration leaves no failure that something would have to cure. */
export const migrationFinished = (
  state: InstanceState,
  cancelling: boolean,
  { outcome, pod, epoch, end, migration }: OperationFinished,
): InstanceState => {
  const told = migration?.target?.node === undefined ? state : { ...state, migration };
  const hasMoved = outcome === 'succeeded' && pod !== undefined && epoch !== undefined;
  const { target: _, former, ...rest } = hasMoved ? handedOver(told, pod, epoch) : told;
  // Asked to hurry, it did not wait for the Pod that the guest has left.
  const leftovers = hasMoved && cancelling && former !== undefined ? [...rest.leftovers, former] : rest.leftovers;
  return { ...rest, leftovers, ...(end === undefined ? {} : { witnessed: end }) };
};

/** Nobody needs a migration whose VMI shall end or whose guest has ended. */
export const reasonToCancel = (state: InstanceState): boolean => shallEnd(state) || reasonToStop(state) !== undefined;
