import { condition, continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type {
  ReplicaSetInput,
  ReplicaSetReport,
  ReplicaSetStatus,
  ReplicaSetView,
} from '../../api/contract/replica-sets.ts';
import { replicaSetObserved, replicaSetStatus } from '../../api/contract/replica-sets.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { isCancellation, isDefect, toFailureInfo } from '../shared/failures.ts';
import { bookkeeping, controllerActivities } from '../shared/proxies.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { msUntil, now } from '../shared/time.ts';
import type { BackOff } from './back-off.ts';
import { withFailures } from './back-off.ts';
import type { Plan } from './plan.ts';
import { plan } from './plan.ts';

/** After a VMI that could not be created or deleted. */
const AGAIN_MS = 30_000;

/** What a replica set's workflow cannot read anywhere; JSON only. */
interface Memory {
  /** Numbers below have been used for names. */
  next: number;
  backOff?: BackOff;
}

type Failure = ReplicaSetReport['failure'];

/**
 * Keeps as many VMIs of a replica set as are wanted, as long as the set exists: each time something is heard it looks what there is, and creates or deletes what
 * differs. In between it costs nothing.
 */
export async function replicaSet(input: ReplicaSetInput): Promise<void> {
  const { set } = input;
  const memory: Memory = input.carried === undefined ? { next: 0 } : (input.carried.state as Memory);
  let status: ReplicaSetStatus = { set, wanted: 0, replicas: 0, readyReplicas: 0, paused: false };
  let heard = false;
  setHandler(replicaSetObserved, () => void (heard = true));
  setHandler(replicaSetStatus, () => status);
  const writeAttributes = newAttributeWriter();

  for (;;) {
    heard = false;
    const seen = await looked(set);
    if ('view' in seen && seen.view.gone === true) return;
    const { backOff, waitMs } = 'view' in seen ? delayed(memory, seen.view) : NO_DELAY;
    const done =
      'view' in seen
        ? await carryOut(set, plan(seen.view, { waits: backOff !== undefined }), memory)
        : { tried: false };
    const failure = 'view' in seen ? (done.failure ?? invalid(seen.view)) : seen.failure;
    const { replicas, readyReplicas, paused } = 'view' in seen ? reportOf(seen.view) : status;
    const report: ReplicaSetReport = {
      ...{ replicas, readyReplicas, paused },
      ...(failure === undefined ? {} : { failure }),
      ...(backOff === undefined ? {} : { backOff }),
    };
    status = { ...report, set, wanted: 'view' in seen ? seen.view.wanted : status.wanted };
    writeAttributes({ VmNamespace: set.namespace, Phase: failure === undefined ? 'following' : 'failing' });
    setCurrentDetails(detailsOf(status));
    // What was just created or deleted is seen by another look, which is shown then.
    if (done.tried && failure === undefined) continue;
    const untold = await published(set, report);
    if (continueAfter(input)) {
      await continueAsNew<typeof replicaSet>({ ...input, carried: { version: 1, state: memory } });
    }
    if (failure !== undefined || untold) await condition(() => heard, AGAIN_MS, { summary: 'next try' });
    else if (waitMs !== undefined) await condition(() => heard, waitMs, { summary: 'back-off' });
    else await condition(() => heard);
  }
}

interface Delay {
  backOff?: NonNullable<ReplicaSetReport['backOff']>;
  /** Until it is over. */
  waitMs?: number;
}

const NO_DELAY: Delay = {};

/** Takes in what has failed; whether VMIs that are missing have to wait for that. */
const delayed = (memory: Memory, view: ReplicaSetView): Delay => {
  const at = now();
  const backOff = withFailures(memory.backOff, view, at);
  if (backOff === undefined) delete memory.backOff;
  else memory.backOff = backOff;
  const { count: failures, retryAt } = backOff ?? { count: 0, retryAt: at };
  const waitMs = msUntil(retryAt, at);
  return waitMs <= 0 || plan(view).create === 0 ? NO_DELAY : { backOff: { failures, retryAt }, waitMs };
};

const looked = async (set: ObjectRef): Promise<{ view: ReplicaSetView } | { failure: NonNullable<Failure> }> => {
  try {
    return { view: await bookkeeping('Look what there is').claimReplicas(set) };
  } catch (error) {
    return { failure: { ...failureOf(error), while: 'creating' } };
  }
};

/** Both are tried, whatever becomes of the other. */
const carryOut = async (
  set: ObjectRef,
  { create, remove }: Plan,
  memory: Memory,
): Promise<{ tried: boolean; failure?: NonNullable<Failure> }> => {
  let failure: Failure;
  if (create > 0) {
    const numbers = Array.from({ length: create }, (_, index) => memory.next + index);
    memory.next += create;
    try {
      await controllerActivities(`Create ${create}`).createReplicas({ set, numbers });
    } catch (error) {
      failure = { ...failureOf(error), while: 'creating' };
    }
  }
  if (remove.length > 0) {
    try {
      await controllerActivities(`Delete ${remove.length}`).deleteReplicas({ set, vmis: remove });
    } catch (error) {
      failure ??= { ...failureOf(error), while: 'deleting' };
    }
  }
  return { tried: create + remove.length > 0, ...(failure === undefined ? {} : { failure }) };
};

/** @throws what is no failure of the world */
const failureOf = (error: unknown): FailureInfo => {
  if (isDefect(error) || isCancellation(error)) throw error;
  return toFailureInfo(error);
};

const invalid = ({ invalid: message }: ReplicaSetView): Failure =>
  message === undefined ? undefined : { type: 'InvalidSpec', message, while: 'creating' };

const reportOf = ({ replicas, paused }: ReplicaSetView): ReplicaSetReport => {
  const active = replicas.filter(({ standing }) => standing === 'active');
  return { replicas: active.length, readyReplicas: active.filter(({ ready }) => ready).length, paused };
};

/** Whether its status could not be written. */
const published = async (set: ObjectRef, report: ReplicaSetReport): Promise<boolean> => {
  try {
    await bookkeeping('Write status').publishReplicaSet({ set, report });
    return false;
  } catch (error) {
    failureOf(error);
    return true;
  }
};

/** For the details pane of the Temporal UI; Markdown. */
const detailsOf = ({ set, wanted, replicas, readyReplicas, paused, failure, backOff }: ReplicaSetStatus): string =>
  [
    `**${replicas} of ${wanted}** VMIs of ${set.namespace}/${set.name}, ${readyReplicas} ready${paused ? '; paused' : ''}`,
    ...(failure === undefined ? [] : [`${failure.type} while ${failure.while}: ${failure.message}`]),
    ...(backOff === undefined
      ? []
      : [`ended at once ${backOff.failures} times in a row: none before ${backOff.retryAt}`]),
  ].join('\n\n');

const continueAfter = ({ continueAfter: length }: ReplicaSetInput): boolean =>
  length === undefined ? workflowInfo().continueAsNewSuggested : workflowInfo().historyLength >= length;
