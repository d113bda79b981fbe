import { ApplicationFailure, CancellationScope, CancelledFailure, log } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type {
  AnyOperationKind,
  OperationInput,
  OperationResult,
  OperationStatus,
  StepRecord,
} from '../../api/contract/operations.ts';
import { isCancellation, isDefect, toFailureInfo } from '../shared/failures.ts';
import type { Round, Work } from './carry-out.ts';
import { newCarrier } from './carry-out.ts';
import type { Journal } from './journal.ts';
import { newJournal } from './journal.ts';
import type { Observations } from './observations.ts';
import { observe } from './observations.ts';
import type { Endless } from './patience.ts';

export type { Round } from './carry-out.ts';

export type Why = 'failed' | 'cancelled';

export interface Step<T> extends Work<T> {
  /**
   * Takes back what `run` did or may have done; tolerates that it did nothing. 'keep': it must stay, and so must all that older steps made.
   * Newest first; the first one that fails for good ends the chain, because older steps carry the younger ones.
   */
  undo?: (round: Round, why: Why) => Promise<void | 'keep'>;
  /** Runs at the end, after undo and after success. */
  always?: (round: Round) => Promise<void>;
}

/** What the story of an operation is told with. */
export interface Operation extends Pick<Journal, 'enter' | 'found' | 'isQuiet'> {
  step: <T>(name: string, step: Step<T>) => Promise<T>;
  seen: Observations;
  /** From here on nothing is undone and nothing cancelled. */
  pointOfNoReturn: (rest: () => Promise<void>) => Promise<void>;
}

export interface Manner {
  /** What was made is taken back and cleaned up whatever it takes; otherwise the first undo that fails for good ends the chain. */
  persistent?: boolean;
  /** A step waits, or waits no longer. */
  onTrouble?: (failure: FailureInfo | undefined) => void;
}

/**
 * Runs an operation: steps with durable back-off, undo newest first when it fails or is cancelled, its records for query, UI and result, its
 * progress and end told to the entity.
 * @throws ApplicationFailure, not retryable, of the failure's type, with the OperationStatus as its details
 */
export const operation = async (
  kind: AnyOperationKind,
  input: OperationInput,
  story: (op: Operation) => Promise<void>,
  { persistent = false, onTrouble }: Manner = {},
): Promise<OperationResult> => {
  const seen = observe();
  const journal = newJournal(kind, input, seen, onTrouble);
  const { step, pointOfNoReturn, undoAll, cleanUp } = newSteps(journal, seen, persistent ? 'whatever' : true);
  const phases = PHASES[kind === 'migrate' ? 'object' : 'own'];
  try {
    const { enter, found, isQuiet } = journal;
    await story({ step, seen, pointOfNoReturn, enter, found, isQuiet });
    await CancellationScope.nonCancellable(cleanUp);
    journal.close(phases.succeeded);
    await journal.finish('succeeded');
    return resultOf(journal.status);
  } catch (error) {
    if (isDefect(error)) throw error;
    const why: Why = isCancellation(error) ? 'cancelled' : 'failed';
    const failure = why === 'cancelled' ? CANCELLED : toFailureInfo(error, failedOn(journal.status));
    await CancellationScope.nonCancellable(async () => {
      await undoAll(why);
      await cleanUp();
    });
    journal.close(phases[why], failure);
    await journal.finish(why);
    const { type, message } = failure;
    throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [journal.status] });
  }
};

/** Phases in which operations end: a migration's are those of its object. */
const PHASES = {
  own: { succeeded: 'Done', failed: 'Failed', cancelled: 'Cancelled' },
  object: { succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Failed' },
};

/** Node of the step that failed. */
const failedOn = ({ steps }: OperationStatus): string | undefined =>
  (steps.findLast(({ state }) => state === 'failed') ?? steps.at(-1))?.node;

const CANCELLED: FailureInfo = {
  type: 'Cancelled',
  message: 'cancelled; what it had made was taken back or handed over.',
};

const newSteps = (journal: Journal, seen: Observations, persistence: Endless) => {
  const carryOut = newCarrier(journal, seen);
  let undos: { record: StepRecord; node?: string; undo: NonNullable<Step<unknown>['undo']> }[] = [];
  const cleanUps: { record: StepRecord; node?: string; always: NonNullable<Step<unknown>['always']> }[] = [];

  return {
    step: async <T>(name: string, { undo, always, ...work }: Step<T>): Promise<T> => {
      if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled between two steps');
      const record = journal.begin(name, work.node);
      const on = work.node === undefined ? {} : { node: work.node };
      // Registered before it runs: the effect may be there although the answer is lost.
      if (undo !== undefined) undos.push({ record, undo, ...on });
      if (always !== undefined) cleanUps.push({ record, always, ...on });
      return carryOut(record, work);
    },
    pointOfNoReturn: (rest: () => Promise<void>): Promise<void> => {
      undos = [];
      return CancellationScope.nonCancellable(rest);
    },
    /** Ends at the first that must stay or cannot be taken back. */
    undoAll: async (why: Why): Promise<void> => {
      for (const { record, undo, ...on } of undos.reverse()) {
        const run = (round: Round): Promise<void | 'keep'> => undo(round, why);
        const undoing = carryOut(journal.begin(`Undo ${record.name}`, on.node), { ...on, endless: persistence, run });
        if ((await undoing.catch(toRecord)) !== undefined) return;
        if (record.state === 'done') record.state = 'undone';
      }
    },
    cleanUp: async (): Promise<void> => {
      for (const { record, always, ...on } of cleanUps.reverse()) {
        const endless = persistence === 'whatever' ? persistence : false;
        const cleaning = carryOut(journal.begin(`Clean up ${record.name}`, on.node), { ...on, endless, run: always });
        await cleaning.catch(toRecord);
      }
    },
  };
};

/** The step's record tells what could not be taken back; the operation's own outcome stands. */
const toRecord = (error: unknown): 'keep' => {
  if (isDefect(error)) throw error;
  log.warn('could not be taken back', { failure: toFailureInfo(error) });
  return 'keep';
};

const resultOf = ({ kind, steps, pod, epoch, end, start, migration, retryOf }: OperationStatus): OperationResult => ({
  ...{ kind, steps },
  ...(pod === undefined ? {} : { pod }),
  ...(epoch === undefined ? {} : { epoch }),
  ...(end === undefined ? {} : { end }),
  ...(start === undefined ? {} : { start }),
  ...(migration === undefined ? {} : { migration }),
  ...(retryOf === undefined ? {} : { retryOf }),
});
