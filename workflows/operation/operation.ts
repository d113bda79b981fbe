import { ApplicationFailure, CancellationScope, CancelledFailure, condition, log } from '@temporalio/workflow';
import { setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type {
  OperationInput,
  OperationKind,
  OperationResult,
  OperationStatus,
  StepRecord,
} from '../../api/contract/operations.ts';
import { operationFinished, operationProgress, operationStatus, retryNow } from '../../api/contract/operations.ts';
import { found, isCancellation, isDefect, isRetryable, toFailureInfo } from '../shared/failures.ts';
import { tell } from '../shared/signals.ts';
import { after, msUntil, now } from '../shared/time.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import type { Observations } from './observations.ts';
import { observe } from './observations.ts';
import { afterFailure, backOffMs } from './patience.ts';
import { stepTable } from './step-table.ts';

/** What a step's function gets in each of its rounds. */
export interface Round {
  /** For the activities of this round, shown in the UI. */
  summary: string;
  /** What the step found, in words. */
  note: (text: string) => void;
  /** Shows what stands in the way without failing; undefined: nothing any more. */
  trouble: (failure: FailureInfo | undefined) => void;
}

export type Why = 'failed' | 'cancelled';

export interface Step<T> {
  /** Node whose worker runs it; absent: the controller. */
  node?: string;
  /** Never gives up on a failure that may pass, because giving up would not be safe. */
  endless?: boolean;
  run: (round: Round) => Promise<T>;
  /**
   * Takes back what `run` did or may have done; tolerates that it did nothing. 'keep': it must stay, and so must all that older steps made.
   * Newest first; the first one that fails for good ends the chain, because older steps carry the younger ones.
   */
  undo?: (round: Round, why: Why) => Promise<void | 'keep'>;
  /** Runs at the end, after undo and after success. */
  always?: (round: Round) => Promise<void>;
}

export type Facts = Partial<Pick<OperationStatus, 'pod' | 'epoch' | 'end' | 'deadline'>>;

/** What the story of an operation is told with. */
export interface Operation {
  step: <T>(name: string, step: Step<T>) => Promise<T>;
  /** The operation is in this phase now: search attributes, details and the entity follow. */
  enter: (phase: string) => void;
  /** What is known from here on; undefined forgets it. Part of status and result. */
  found: (facts: { [K in keyof Facts]: Facts[K] | undefined }) => void;
  seen: Observations;
}

/**
 * Runs an operation: steps with durable back-off, undo newest first when it fails or is cancelled, its records for query, UI and result, its
 * progress and end told to the entity.
 * @throws ApplicationFailure, not retryable, of the failure's type, with the OperationStatus as its details
 */
export const operation = async (
  kind: OperationKind,
  input: OperationInput,
  story: (op: Operation) => Promise<void>,
): Promise<OperationResult> => {
  const { vmi, attempt, retryOf } = input;
  const operationId = workflowInfo().workflowId;
  const status: OperationStatus = {
    kind,
    vmi,
    attempt,
    phase: 'Accepted',
    steps: [],
    ...(retryOf === undefined ? {} : { retryOf }),
  };
  const seen = observe();
  const attributes = newAttributeWriter();
  const undos: { name: string; record: StepRecord; step: Pick<Step<unknown>, 'node' | 'undo'> }[] = [];
  const cleanUps: { name: string; step: Pick<Step<unknown>, 'node' | 'always'> }[] = [];
  let trouble: { step: string; failure: FailureInfo } | undefined;
  let told = '';

  const current = (): StepRecord | undefined => status.steps.at(-1);
  const show = (): void => setCurrentDetails(stepTable(status));
  const report = (): void => {
    const { phase, pod, epoch } = status;
    const progress = {
      ...{ operationId, kind, phase },
      ...(pod === undefined ? {} : { pod }),
      ...(epoch === undefined ? {} : { epoch }),
      ...(trouble === undefined ? {} : { trouble }),
    };
    const text = JSON.stringify(progress);
    if (text === told) return;
    told = text;
    void tell(input.entity, operationProgress, progress);
  };

  setHandler(operationStatus, () => status);
  setHandler(
    retryNow,
    () => {
      seen.call();
      return { step: current()?.name ?? '' };
    },
    {
      validator: () => {
        if (current()?.state === 'waiting') return;
        throw ApplicationFailure.nonRetryable('No step of this operation waits; see its steps with virtflow history.');
      },
    },
  );

  const become = (phase: string): void => {
    status.phase = phase;
    attributes({
      ...{ VmNamespace: vmi.namespace, VmName: vmi.name, VmUid: input.vm?.uid ?? vmi.uid },
      ...{ Operation: kind, Phase: phase, NodeName: status.pod?.node, FailureReason: status.failure?.type },
    });
    show();
  };
  const enter = (phase: string): void => {
    become(phase);
    report();
  };

  const setTrouble = (record: StepRecord, failure: FailureInfo | undefined): void => {
    if (failure === undefined) delete record.failure;
    else record.failure = failure;
    record.state = failure === undefined ? 'running' : 'waiting';
    trouble = failure === undefined ? undefined : { step: record.name, failure };
    show();
    report();
  };

  const end = (record: StepRecord, state: StepRecord['state']): void => {
    record.state = state;
    record.endedAt = now();
    delete record.nextTryAt;
    if (state === 'done') delete record.failure;
    if (trouble?.step === record.name && state === 'done') trouble = undefined;
    show();
    report();
  };

  const backOff = async (record: StepRecord, failure: FailureInfo, calls: number): Promise<void> => {
    const ms = backOffMs(record.attempts);
    record.nextTryAt = after(now(), ms);
    setTrouble(record, failure);
    await condition(() => seen.calls() > calls, ms, { summary: `${record.name}: ${failure.type}` });
    delete record.nextTryAt;
    record.state = 'running';
  };

  const carryOut = async <T>(name: string, step: Pick<Step<T>, 'node' | 'endless' | 'run'>): Promise<T> => {
    const record: StepRecord = {
      ...{ name, startedAt: now(), attempts: 0, state: 'running' },
      ...(step.node === undefined ? {} : { node: step.node }),
    };
    status.steps.push(record);
    for (;;) {
      record.attempts += 1;
      show();
      const calls = seen.calls();
      try {
        const value = await step.run({
          summary: record.attempts === 1 ? name : `${name}, round ${record.attempts}`,
          note: (text) => void (record.note = text),
          trouble: (failure) => setTrouble(record, failure),
        });
        end(record, 'done');
        return value;
      } catch (error) {
        if (isDefect(error)) throw error;
        if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
          end(record, 'cancelled');
          throw error;
        }
        const failure = toFailureInfo(error, step.node);
        const elapsedMs = msUntil(now(), record.startedAt);
        const retryable = isRetryable(error, failure);
        const verdict = afterFailure({
          ...{ failure, retryable, round: record.attempts, elapsedMs, endless: step.endless === true },
        });
        if (verdict === 'retry') {
          await backOff(record, failure, calls).catch((cancelled: unknown) => {
            end(record, 'cancelled');
            throw cancelled;
          });
          continue;
        }
        record.failure = failure;
        end(record, 'failed');
        if (verdict === 'fail') throw error;
        throw found('DeadlineExceeded', `${name} waited a day in vain; last: ${failure.message}`);
      }
    }
  };

  const step = async <T>(name: string, spec: Step<T>): Promise<T> => {
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('cancelled between two steps');
    const { node, undo, always } = spec;
    const on = node === undefined ? {} : { node };
    if (always !== undefined) cleanUps.push({ name, step: { ...on, always } });
    // Registered before it runs: the effect may be there although the answer is lost.
    const entry = undo === undefined ? undefined : { name, step: { ...on, undo } };
    const promise = carryOut(name, spec);
    const record = current();
    if (entry !== undefined && record !== undefined) undos.push({ ...entry, record });
    return promise;
  };

  const undoAll = async (why: Why): Promise<void> => {
    for (const { name, record, step: undone } of undos.reverse()) {
      const verdict = await carryOut(`Undo ${name}`, {
        ...undone,
        endless: true,
        run: async (round) => undone.undo?.(round, why),
      });
      if (verdict === 'keep') return;
      if (record.state === 'done') record.state = 'undone';
    }
  };

  const cleanUp = async (): Promise<void> => {
    for (const { name, step: cleaned } of cleanUps.reverse()) {
      const run = async (round: Round): Promise<void> => cleaned.always?.(round);
      await carryOut(`Clean up ${name}`, { ...cleaned, run }).catch(recorded);
    }
  };
  /** The step's record tells; the operation's own outcome stands. */
  const recorded = (error: unknown): void => {
    if (isDefect(error)) throw error;
    log.warn('could not be taken back', { operationId, failure: toFailureInfo(error) });
  };

  const finish = async (outcome: 'succeeded' | 'failed' | 'cancelled'): Promise<void> => {
    const { pod, epoch, end: guestEnd, failure } = status;
    trouble = undefined;
    await tell(input.entity, operationFinished, {
      ...{ operationId, kind, outcome },
      ...(pod === undefined ? {} : { pod }),
      ...(epoch === undefined ? {} : { epoch }),
      ...(guestEnd === undefined ? {} : { end: guestEnd }),
      ...(failure === undefined ? {} : { failure }),
    });
  };

  try {
    await story({
      ...{ step, enter, seen },
      found: (facts) => {
        for (const [key, value] of Object.entries(facts)) {
          if (value === undefined) delete status[key as keyof Facts];
          else Object.assign(status, { [key]: value });
        }
      },
    });
    await CancellationScope.nonCancellable(cleanUp);
    become('Done');
    await finish('succeeded');
    return resultOf(status);
  } catch (error) {
    if (isDefect(error)) throw error;
    const why: Why = isCancellation(error) ? 'cancelled' : 'failed';
    const failure: FailureInfo =
      why === 'failed' ? toFailureInfo(error, current()?.node) : { type: 'Cancelled', message: CANCELLED };
    await CancellationScope.nonCancellable(async () => {
      await undoAll(why).catch(recorded);
      await cleanUp();
    });
    status.failure = failure;
    become(why === 'failed' ? 'Failed' : 'Cancelled');
    await finish(why);
    throw ApplicationFailure.create({
      ...{ type: failure.type, message: failure.message, nonRetryable: true, details: [status] },
    });
  }
};

const CANCELLED = 'cancelled by its entity; what it had made was taken back or handed over.';

const resultOf = ({ kind, steps, pod, epoch, end }: OperationStatus): OperationResult => ({
  ...{ kind, steps },
  ...(pod === undefined ? {} : { pod }),
  ...(epoch === undefined ? {} : { epoch }),
  ...(end === undefined ? {} : { end }),
});
