import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  ParentClosePolicy,
  isCancellation,
  startChild,
} from '@temporalio/workflow';
import type { InstanceReport } from '../../api/contract/activities.ts';
import { keywords } from '../../api/contract/keywords.ts';
import type { FailureType } from '../../api/contract/failures.ts';
import { migrationAnswered } from '../../api/contract/migrations.ts';
import type { OperationKind, OperationResult, OperationStatus } from '../../api/contract/operations.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import * as operations from '../../api/contract/operations.ts';
import { PRIORITIES } from '../../api/contract/priorities.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId } from '../../api/contract/refs.ts';
import { finishedAs } from '../operation/finished.ts';
import { firstAttributes } from '../operation/journal.ts';
import { bookkeeping } from '../shared/proxies.ts';
import { cancel, tell } from '../shared/signals.ts';
import { adopt } from './adopt.ts';
import type { Forwarded, InstanceCommand, InstanceEvent } from './state.ts';

const CANCELLED: FailureType = 'Cancelled';

type Begin = Extract<InstanceCommand, { type: 'begin' }>;

export interface Performer {
  /** @param unsaid what the VMI's status does not say yet */
  perform: (command: InstanceCommand, unsaid: InstanceReport | undefined) => Promise<InstanceEvent | undefined>;
  /** Asks the operation under way to tell its end to the run that comes next: only this one gets it from the server. */
  handOver: (operationId: string | undefined) => Promise<void>;
}

/** Carries out the commands of an instance's entity. @param put takes what happens later */
export const newPerformer = (vmi: ObjectRef, put: (event: InstanceEvent) => void): Performer => {
  /** The start of the operation begun last: until it is done there is nobody under its id. */
  let begun: Promise<unknown> = Promise.resolve();
  /** Operations whose end this run waits for. */
  const awaited = new Map<string, Promise<void>>();
  const awaitEnd = (id: string, result: Promise<unknown>): void => {
    const over = endOf(id, result).then((event) => {
      awaited.delete(id);
      if (event !== undefined) put(event);
    });
    awaited.set(id, over);
  };
  const handOver = async (id: string | undefined): Promise<void> => {
    const over = id === undefined ? undefined : awaited.get(id);
    if (id === undefined || over === undefined) return;
    if (await tell(id, operations.ping)) awaited.delete(id);
    // It has closed, and that is on its way here.
    else await over;
  };
  const perform: Performer['perform'] = async (command, unsaid) => {
    switch (command.type) {
      case 'adopt':
        return { type: 'adopted', found: await adopt(vmi) };
      case 'begin': {
        const beginning = begin(vmi, command, awaitEnd);
        begun = beginning;
        return beginning;
      }
      case 'forward':
        await begun;
        return lostUnless(await forward(command.id, command.message), command.id);
      case 'cancel':
        await begun;
        return lostUnless(await cancel(command.id), command.id);
      case 'answer':
        return lostUnless(await tell(command.id, migrationAnswered, command.answer), command.id);
      case 'release': {
        const { releaseToken, releaseInstance } = bookkeeping('Release');
        if (command.epoch !== undefined) await releaseToken({ vmi, epoch: command.epoch });
        await releaseInstance({ vmi, ...(unsaid === undefined ? {} : { report: unsaid }) });
        return { type: 'released' };
      }
    }
  };
  return { perform, handOver };
};

const lostUnless = (isThere: boolean, id: string): InstanceEvent | undefined =>
  isThere ? undefined : { type: 'operationLost', id };

const TYPES: Record<OperationKind, string> = {
  ...{ start: WORKFLOWS.startInstance, shutdown: WORKFLOWS.shutdownInstance, migrate: WORKFLOWS.migrateInstance },
};

/** Starts an operation that outlives this run. Its id is taken if an entity that lost its history begins it again. */
const begin = async (
  vmi: ObjectRef,
  { id, operation, owner }: Begin,
  awaitEnd: (id: string, result: Promise<unknown>) => void,
): Promise<InstanceEvent | undefined> => {
  const { kind, ...rest } = operation;
  const input = { ...rest, entity: instanceId(vmi), vmi, ...(owner === undefined ? {} : { vm: owner }) };
  try {
    const child = await startChild(TYPES[kind], {
      workflowId: id,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      // A migration has one id for its object: it is run again when it did not come to its end.
      workflowIdReusePolicy:
        kind === 'migrate' ? WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY : WorkflowIdReusePolicy.REJECT_DUPLICATE,
      typedSearchAttributes: keywords(firstAttributes(kind, input)),
      priority: { priorityKey: PRIORITIES.operation },
      staticSummary: `${kind} of ${vmi.namespace}/${vmi.name}, attempt ${operation.attempt}`,
    });
    awaitEnd(id, child.result());
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { type: 'operationExists', id, isOpen: await tell(id, operations.ping) };
  }
};

/** What the end of an operation's workflow says. A migration has told it before; one that was terminated says nothing. */
const endOf = async (id: string, result: Promise<unknown>): Promise<InstanceEvent | undefined> => {
  try {
    const ended = (await result) as OperationResult;
    if (ended.kind === 'migrate') return { type: 'operationLost', id };
    return { type: 'operationFinished', finished: finishedAs(id, 'succeeded', ended) };
  } catch (error) {
    if (error instanceof ChildWorkflowFailure && error.cause instanceof ApplicationFailure) {
      const [status] = (error.cause.details ?? []) as [OperationStatus?];
      const outcome = error.cause.type === CANCELLED ? 'cancelled' : 'failed';
      if (status !== undefined && status.kind !== 'migrate')
        return { type: 'operationFinished', finished: finishedAs(id, outcome, status) };
    }
    return isCancellation(error) ? undefined : { type: 'operationLost', id };
  }
};

const forward = (id: string, message: Forwarded): Promise<boolean> => {
  switch (message.signal) {
    case 'podChanged':
      return tell(id, operations.podChanged, message.facts);
    case 'domainChanged':
      return tell(id, operations.domainChanged, message.report);
    case 'wake':
      return tell(id, operations.wake);
    case 'ping':
      return tell(id, operations.ping);
    case 'bringForward':
      return tell(id, operations.bringForward, message.deadline);
  }
};
