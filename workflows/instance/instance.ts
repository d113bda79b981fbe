import { ApplicationFailure, continueAsNew, log, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { EntityInput } from '../../api/contract/entities.ts';
import * as contract from '../../api/contract/entities.ts';
import { migrationProposed } from '../../api/contract/migrations.ts';
import { nodeReported } from '../../api/contract/nodes.ts';
import { operationFinished, operationProgress, retryOperation } from '../../api/contract/operations.ts';
import { runEntity } from '../shared/entity.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { newInbox } from '../shared/inbox.ts';
import { bookkeeping, localBookkeeping } from '../shared/proxies.ts';
import { now } from '../shared/time.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { newWriter } from '../shared/writer.ts';
import { decide } from './decide.ts';
import { newPerformer } from './perform.ts';
import { isFinal } from './phases.ts';
import { isAsCreated, reportKey, reportOf, reportOfStart } from './report.ts';
import { isStartQuiet } from './start-news.ts';
import type { InstanceEvent, InstanceState } from './state.ts';
import { initialState, isGone, isOver } from './state.ts';
import { attributesOf, detailsOf, statusOf } from './views.ts';

interface CarriedState {
  state: InstanceState;
  written?: string;
}

/** The entity of a VirtualMachineInstance: its phase, one operation at a time; from the object's first sight until it is gone. */
export async function virtualMachineInstance(input: EntityInput): Promise<void> {
  const { ref: vmi } = input;
  const inbox = newInbox<InstanceEvent>();
  const take = (event: InstanceEvent): void => {
    const start = event.type === 'operationFinished' ? event.finished.start : undefined;
    if (start?.isShown === true) writer.wrote(reportKey(reportOfStart(vmi, start)));
    inbox.put(event);
  };
  const carried = restore(input);
  let state = carried.state;

  setHandler(contract.instanceObserved, (facts) => inbox.put({ type: 'instanceObserved', facts }));
  setHandler(contract.podObserved, (facts) => inbox.put({ type: 'podObserved', facts }));
  setHandler(contract.domainReported, (report) => inbox.put({ type: 'domainReported', report }));
  setHandler(contract.dependencyChanged, (changed) => inbox.put({ type: 'dependencyChanged', ...changed }));
  setHandler(operationProgress, (progress) => inbox.put({ type: 'operationProgress', progress }));
  setHandler(operationFinished, (finished) => take({ type: 'operationFinished', finished }));
  setHandler(nodeReported, (report) => inbox.put({ type: 'nodeReported', report }));
  setHandler(migrationProposed, (proposal) => inbox.put({ type: 'migrationProposed', proposal }));
  setHandler(contract.entityStatus, () => statusOf(state));
  const retried = (): string | undefined =>
    decide(state, { type: 'retryRequested' }, now()).commands.flatMap((command) =>
      command.type === 'begin' ? [command.id] : [],
    )[0];
  setHandler(
    retryOperation,
    () => {
      const operationId = retried() ?? '';
      inbox.put({ type: 'retryRequested' });
      return { operationId };
    },
    {
      validator: () => {
        if (state.failed !== undefined && retried() !== undefined) return;
        throw ApplicationFailure.nonRetryable('No operation of this VMI has failed and waits to be retried.');
      },
    },
  );

  const writer = newWriter(async (report: ReturnType<typeof reportOf>) => {
    // What comes last is done over the queue: it may be followed by the end of this run.
    const activities = isShutDown(state) ? localBookkeeping : bookkeeping;
    await activities(`Publish ${report.phase}`)
      .publishInstance({ vmi, report })
      .catch((error: unknown) => log.error('status refused', { failure: toFailureInfo(error) }));
  }, carried.written);
  const { perform, handOver } = newPerformer(vmi, take);
  const writeAttributes = newAttributeWriter();
  const show = (shown: InstanceState): void => {
    state = shown;
    writeAttributes(attributesOf(shown));
    setCurrentDetails(detailsOf(shown));
    const report = reportOf(shown);
    // The last one is written with the release.
    const isQuiet = isStartQuiet(shown) || shown.release === 'underWay';
    if (shown.adoption === 'done' && !isGone(shown) && !isQuiet && !isAsCreated(shown, report)) {
      writer.want(report, reportKey(report));
    }
  };

  await runEntity({
    ...{ inbox, state, decide, show, isOver, timer: { type: 'timerFired' } },
    isShown: writer.isIdle,
    wakeAt: ({ wakeAt }) => wakeAt,
    perform: async (command) => {
      if (command.type === 'release') await writer.idle();
      const report = reportOf(state);
      return perform(command, reportKey(report) === writer.lastKey() ? undefined : report);
    },
    continueAfter: input.continueAfter,
    beforeContinuing: ({ operation }) => handOver(operation?.id),
    continueAsNew: (last) => {
      const written = writer.lastKey();
      const next: CarriedState = { state: last, ...(written === undefined ? {} : { written }) };
      return continueAsNew<typeof virtualMachineInstance>({ ...input, carried: { version: 1, state: next } });
    },
  });
}

/** A guest is shut down: its entity has more to do than what is written now. */
const isShutDown = ({ operation, phase }: InstanceState): boolean => operation?.kind === 'shutdown' && !isFinal(phase);

/** State of an earlier run of this entity. There is one version so far. */
const restore = ({ ref, carried }: EntityInput): CarriedState =>
  carried === undefined ? { state: initialState(ref) } : (carried.state as CarriedState);
