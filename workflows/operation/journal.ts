import { ApplicationFailure, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type {
  AnyOperationKind,
  OperationFinished,
  OperationInput,
  OperationStatus,
  StepRecord,
} from '../../api/contract/operations.ts';
import {
  operationFinished,
  operationProgress,
  operationStatus,
  ping,
  retryNow,
} from '../../api/contract/operations.ts';
import { tell } from '../shared/signals.ts';
import { now } from '../shared/time.ts';
import type { Attributes } from '../../api/contract/keywords.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { finishedAs, placeOf } from './finished.ts';
import type { Observations } from './observations.ts';
import { stepTable } from './step-table.ts';

export type Facts = Partial<Pick<OperationStatus, 'pod' | 'epoch' | 'end' | 'deadline' | 'migration' | 'start'>>;

/** What an operation tells of itself: to queries, to the UI, to search, and to its entity. */
export interface Journal {
  status: OperationStatus;
  /** Nobody has been told anything so far, nor has asked. */
  isQuiet: () => boolean;
  /** A new phase: search attributes follow, and the entity is told. `quietly`: it is not. `inPassing`: neither, for the next one is close. */
  enter: (phase: string, how?: 'quietly' | 'inPassing') => void;
  /** The phase in which the operation ends; its end is told by `finish`. */
  close: (phase: string, failure?: FailureInfo) => void;
  found: (facts: { [K in keyof Facts]: Facts[K] | undefined }) => void;
  begin: (name: string, node: string | undefined) => StepRecord;
  /** The record was changed. */
  changed: () => void;
  trouble: (record: StepRecord, failure: FailureInfo | undefined) => void;
  end: (record: StepRecord, state: StepRecord['state']) => void;
  /**
   * Tells the end, and again if somebody asked meanwhile: it may be an entity that was begun anew after the first word had reached its former run. The
   * run that has begun a start or a shutdown gets its end from the server, and is told only if it, or another, has asked (docs/adr/0027).
   */
  finish: (outcome: OperationFinished['outcome']) => Promise<void>;
}

/** Registers the handlers; to be called before the first await. */
export const newJournal = (
  kind: AnyOperationKind,
  input: OperationInput,
  seen: Observations,
  onTrouble: (failure: FailureInfo | undefined) => void = () => undefined,
): Journal => {
  const { vmi, attempt, retryOf, entity } = input;
  const { workflowId: operationId, parent } = workflowInfo();
  const isAwaited = parent?.workflowId === entity && (kind === 'start' || kind === 'shutdown');
  const writeAttributes = newAttributeWriter();
  const status: OperationStatus = {
    ...{ kind, vmi, attempt, phase: 'Accepted', steps: [] },
    ...(retryOf === undefined ? {} : { retryOf }),
  };
  let trouble: { step: string; failure: FailureInfo } | undefined;
  let told = '';
  let pings = 0;

  setHandler(operationStatus, () => status);
  handleRetryNow(status, seen);

  const changed = (): void => setCurrentDetails(stepTable(status));
  const tellProgress = (): void => {
    const { phase } = status;
    const progress = { operationId, kind, phase, ...placeOf(status), ...(trouble === undefined ? {} : { trouble }) };
    const text = JSON.stringify(progress);
    if (text === told) return;
    told = text;
    void tell(entity, operationProgress, progress);
  };
  const become = (phase: string): void => {
    status.phase = phase;
    showPlace();
    changed();
  };
  const showPlace = (): void =>
    writeAttributes({
      ...firstAttributes(kind, input),
      ...{ Phase: status.phase, FailureReason: status.failure?.type, ...nodesOf(status) },
    });

  setHandler(ping, () => {
    pings += 1;
    if (told === '') return;
    // Who asks may have forgotten what was told.
    told = '';
    tellProgress();
  });

  return {
    status,
    changed,
    isQuiet: () => told === '' && pings === 0,
    enter: (phase, how) => {
      if (how === 'inPassing') {
        status.phase = phase;
        return changed();
      }
      become(phase);
      if (how === undefined) tellProgress();
    },
    close: (phase, failure) => {
      if (failure !== undefined) status.failure = failure;
      become(phase);
    },
    found: (facts) => {
      for (const [key, value] of Object.entries(facts)) {
        if (value === undefined) delete status[key as keyof Facts];
        else Object.assign(status, { [key]: value });
      }
    },
    begin: (name, node) => {
      const record: StepRecord = {
        ...{ name, startedAt: now(), attempts: 0, state: 'running' },
        ...(node === undefined ? {} : { node }),
      };
      status.steps.push(record);
      return record;
    },
    trouble: (record, failure) => {
      const isNews = failure !== undefined || trouble !== undefined;
      if (failure === undefined) delete record.failure;
      else record.failure = failure;
      record.state = failure === undefined ? 'running' : 'waiting';
      trouble = failure === undefined ? undefined : { step: record.name, failure };
      onTrouble(failure);
      changed();
      if (!isNews) return;
      showPlace();
      tellProgress();
    },
    end: (record, state) => {
      record.state = state;
      record.endedAt = now();
      delete record.nextTryAt;
      if (state === 'done') {
        delete record.failure;
        // Another step that runs beside this one may still wait.
        if (trouble !== undefined && !status.steps.some((step) => step.state === 'waiting')) {
          trouble = undefined;
          onTrouble(undefined);
          tellProgress();
        }
      }
      changed();
    },
    finish: async (outcome) => {
      if (isAwaited && pings === 0) return;
      const finished = finishedAs(operationId, outcome, status);
      // No ping is lost: the server completes no workflow that has not seen all signals that were delivered to it.
      for (let answered = -1; answered < pings;) {
        answered = pings;
        await tell(entity, operationFinished, finished);
      }
    },
  };
};

/** Search attributes that an operation begins with. */
export const firstAttributes = (
  kind: AnyOperationKind,
  { vmi, vm }: Pick<OperationInput, 'vmi' | 'vm'>,
): Attributes => ({
  ...{ VmNamespace: vmi.namespace, VmName: vmi.name, VmUid: vm?.uid ?? vmi.uid },
  ...{ Operation: kind, Phase: kind === 'shutdown' ? 'Stopping' : 'Pending' },
});

const nodesOf = ({ pod, migration }: OperationStatus): Attributes =>
  migration === undefined
    ? { NodeName: pod?.node }
    : {
        ...{ MigrationUid: migration.migration.uid },
        ...{ NodeName: migration.source?.node, TargetNode: migration.target?.node },
      };

const handleRetryNow = ({ steps }: OperationStatus, seen: Observations): void => {
  const waiting = (): StepRecord | undefined => steps.findLast(({ state }) => state === 'waiting');
  const retry = (): { step: string } => {
    seen.call();
    return { step: waiting()?.name ?? '' };
  };
  const validator = (): void => {
    if (waiting() !== undefined) return;
    throw ApplicationFailure.nonRetryable('No step of this operation waits; see its steps with virtflow history.');
  };
  setHandler(retryNow, retry, { validator });
};
