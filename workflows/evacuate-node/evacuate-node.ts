import { condition, continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type {
  EvacuationInput,
  EvacuationResult,
  EvacuationStatus,
  EvacuationView,
} from '../../api/contract/evacuation.ts';
import { evacuationObserved, evacuationStatus } from '../../api/contract/evacuation.ts';
import { isCancellation, isDefect, toFailureInfo } from '../shared/failures.ts';
import { bookkeeping } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';
import { newAttributeWriter } from '../shared/visibility.ts';
import { carryOut } from './perform.ts';
import type { Memory } from './plan.ts';
import { REFUSED_MS, initialMemory, plan } from './plan.ts';
import { detailsOf, isStill } from './words.ts';

/**
 * Empties a node: as long as somebody is asked to leave it, each time something is heard, it looks who that is, gives a migration to whoever has none, and
 * takes back what is not wanted any more. Making the node schedulable again ends it. Limits and order of the migrations are the scheduler's.
 */
export async function evacuateNode(input: EvacuationInput): Promise<EvacuationResult> {
  const { node } = input;
  let memory = input.carried === undefined ? initialMemory(now()) : (input.carried.state as Memory);
  let status: EvacuationStatus = { node, since: memory.since, cordoned: memory.wasCordoned, leaving: [] };
  let heard = false;
  setHandler(evacuationObserved, () => void (heard = true));
  setHandler(evacuationStatus, () => status);
  const writeAttributes = newAttributeWriter();
  const show = (shown: EvacuationStatus): void => {
    status = shown;
    writeAttributes({ NodeName: node.name, Phase: isStill(shown) ? 'standingStill' : 'evacuating' });
    setCurrentDetails(detailsOf(shown));
  };

  for (;;) {
    heard = false;
    let wait: number | undefined;
    try {
      const view = await bookkeeping('Look who is to leave').observeEvacuation({ node });
      memory = seen(memory, view);
      const todo = plan(view, memory, now());
      const { since, created } = memory;
      show({ node, since, cordoned: view.cordoned, leaving: todo.leaving });
      if (todo.end !== undefined && !heard) return { node, end: todo.end, created };
      const done = await carryOut(node, todo, memory);
      memory = done.memory;
      if (done.changed) continue;
      wait = todo.wakeAt === undefined ? undefined : Math.max(1, msUntil(todo.wakeAt, now()));
    } catch (error) {
      if (isDefect(error) || isCancellation(error)) throw error;
      show({ ...status, failure: toFailureInfo(error) });
      wait = REFUSED_MS;
    }
    if (shouldContinue(input)) {
      await continueAsNew<typeof evacuateNode>({ ...input, carried: { version: 1, state: memory } });
    }
    await heardWithin(() => heard, wait);
  }
}

/** Whoever is not there any more is forgotten. */
const seen = (memory: Memory, { cordoned, leaving }: EvacuationView): Memory => {
  const isThere = ([uid]: [string, unknown]): boolean => leaving.some(({ vmi }) => vmi.uid === uid);
  return {
    ...memory,
    wasCordoned: memory.wasCordoned || cordoned,
    refused: Object.fromEntries(Object.entries(memory.refused).filter(isThere)),
    told: Object.fromEntries(Object.entries(memory.told).filter(isThere)),
  };
};

const heardWithin = async (heard: () => boolean, ms: number | undefined): Promise<void> => {
  if (ms === undefined) await condition(heard);
  else await condition(heard, ms, { summary: 'next try' });
};

const shouldContinue = ({ continueAfter }: EvacuationInput): boolean =>
  continueAfter === undefined ? workflowInfo().continueAsNewSuggested : workflowInfo().historyLength >= continueAfter;
