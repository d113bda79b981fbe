import { continueAsNew, log, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { VirtualMachineReport } from '../../api/contract/activities.ts';
import type { EntityInput } from '../../api/contract/entities.ts';
import type { InstanceFacts } from '../../api/contract/facts.ts';
import * as contract from '../../api/contract/entities.ts';
import { runEntity } from '../shared/entity.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { newInbox } from '../shared/inbox.ts';
import { bookkeeping, localBookkeeping } from '../shared/proxies.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { newWriter } from '../shared/writer.ts';
import { decide } from './decide.ts';
import type { Announcement } from './perform.ts';
import { perform } from './perform.ts';
import { reportOf, reportOnceCreated } from './report.ts';
import type { VirtualMachineEvent, VirtualMachineState } from './state.ts';
import { initialState, isOursAlone, isOver } from './state.ts';
import { handleTriggers } from './trigger-handlers.ts';
import { newTriggerPerformer } from './trigger-operations.ts';
import { attributesOf, detailsOf, statusOf } from './views.ts';

interface CarriedState {
  state: VirtualMachineState;
  written?: string;
}

/** The entity of a VirtualMachine: creates and deletes its instance as run strategy and requests say, until the object is gone. */
export async function virtualMachine(input: EntityInput): Promise<void> {
  const { ref: vm } = input;
  const inbox = newInbox<VirtualMachineEvent>();
  const carried = restore(input);
  let state = carried.state;

  setHandler(contract.virtualMachineObserved, (facts) => inbox.put({ type: 'virtualMachineObserved', facts }));
  setHandler(contract.instanceObserved, (facts) => inbox.put({ type: 'instanceObserved', facts }));
  setHandler(contract.dependencyChanged, () => inbox.put({ type: 'dependencyChanged' }));
  setHandler(contract.entityStatus, () => statusOf(state));

  handleTriggers(() => state, inbox.put);

  const writer = newWriter(async (report: VirtualMachineReport) => {
    const settled = report.settledRequests.at(-1)?.id;
    try {
      // That requests are settled comes back as news: over the queue, so that it is on record first.
      const activities = settled === undefined ? localBookkeeping : bookkeeping;
      const facts = await activities('Publish').publishVirtualMachine({ vm, report });
      if (facts != null && settled !== undefined) inbox.put({ type: 'published', facts, settled });
    } catch (error) {
      log.error('status refused', { failure: toFailureInfo(error) });
    }
  }, carried.written);
  const performTrigger = newTriggerPerformer(vm);
  const writeAttributes = newAttributeWriter();
  const show = (shown: VirtualMachineState): void => {
    state = shown;
    writeAttributes(attributesOf(shown));
    setCurrentDetails(detailsOf(shown));
    // What is created in a moment is told once it is there: one write instead of two.
    if (shown.adoption !== 'done' || shown.released || shown.busy === 'create' || goesAtOnce(shown)) return;
    const report = reportOf(shown);
    // Nobody follows how the instance of a VM ends that is being deleted.
    const instanceVersion = shown.object?.deleting === true ? undefined : shown.instance?.resourceVersion;
    const told = { ...report, ...(instanceVersion === undefined ? {} : { instanceVersion }) };
    writer.want(told, reportKey(report, shown, instanceVersion));
  };
  const announcement = (): Announcement => {
    const report = reportOnceCreated(state);
    const shown = ({ vmi: { uid: instance }, resourceVersion }: InstanceFacts): void =>
      writer.wrote(reportKey({ ...report, instance }, state, resourceVersion));
    return { report, shown };
  };

  await runEntity({
    ...{ inbox, state, decide, show, isOver, timer: { type: 'timerFired' } },
    isShown: writer.isIdle,
    wakeAt: ({ wakeAt }) => wakeAt,
    perform: async (command) => {
      if (command.type === 'trigger' || command.type === 'wakeTrigger') return performTrigger(command);
      if (command.type === 'release') await writer.idle();
      return perform(vm, command, announcement());
    },
    continueAfter: input.continueAfter,
    continueAsNew: (last) => {
      const written = writer.lastKey();
      const next: CarriedState = { state: last, ...(written === undefined ? {} : { written }) };
      return continueAsNew<typeof virtualMachine>({ ...input, carried: { version: 1, state: next } });
    },
  });
}

/** Nothing is left that keeps the object, so that nobody would see its last status. */
const goesAtOnce = ({ object, instance, busy }: VirtualMachineState): boolean =>
  busy === 'release' && instance === undefined && isOursAlone(object);

/**
 * The status mirrors the instance's, which the writer reads itself: a newer version of it is another status. That settled requests are off the list is
 * none. What has come is to be seen by the writer, which looks at what the VM refers to.
 */
const reportKey = (
  { settledRequests: _, ...said }: VirtualMachineReport,
  { served, woken }: VirtualMachineState,
  instanceVersion: string | undefined,
): string => JSON.stringify([said, served, instanceVersion, ...(woken === undefined ? [] : [woken])]);

/** State of an earlier run of this entity. There is one version so far. */
const restore = ({ ref, carried }: EntityInput): CarriedState =>
  carried === undefined ? { state: initialState(ref) } : (carried.state as CarriedState);
