import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import { ParentClosePolicy, isCancellation, startChild } from '@temporalio/workflow';
import { keywords } from '../../api/contract/keywords.ts';
import { migrationAnswered } from '../../api/contract/migrations.ts';
import type { OperationKind } from '../../api/contract/operations.ts';
import { WORKFLOWS } from '../../api/contract/operations.ts';
import * as operations from '../../api/contract/operations.ts';
import { PRIORITIES } from '../../api/contract/priorities.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { instanceId } from '../../api/contract/refs.ts';
import { firstAttributes } from '../operation/journal.ts';
import { bookkeeping } from '../shared/proxies.ts';
import { cancel, tell } from '../shared/signals.ts';
import { adopt } from './adopt.ts';
import type { Forwarded, InstanceCommand, InstanceEvent } from './state.ts';

type Begin = Extract<InstanceCommand, { type: 'begin' }>;

/** Carries out the commands of an instance's entity. @param put takes what happens later */
export const newPerformer = (
  vmi: ObjectRef,
  put: (event: InstanceEvent) => void,
): ((command: InstanceCommand) => Promise<InstanceEvent | undefined>) => {
  /** The start of the operation begun last: until it is done there is nobody under its id. */
  let begun: Promise<unknown> = Promise.resolve();
  return async (command) => {
    switch (command.type) {
      case 'adopt':
        return { type: 'adopted', found: await adopt(vmi) };
      case 'begin': {
        const beginning = begin(vmi, command, put);
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
        await releaseInstance(vmi);
        return { type: 'released' };
      }
    }
  };
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
  put: (event: InstanceEvent) => void,
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
    const closed = (): void => put({ type: 'operationLost', id });
    // It has reported its end before it closes; one that was terminated has not.
    void child.result().then(closed, (error: unknown) => (isCancellation(error) ? undefined : closed()));
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { type: 'operationExists', id, isOpen: await tell(id, operations.ping) };
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
