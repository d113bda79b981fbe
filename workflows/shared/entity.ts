import { CancellationScope, allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import type { Inbox } from './inbox.ts';
import { msUntil, now } from './time.ts';

export interface Entity<State, Event, Command> {
  inbox: Inbox<Event>;
  state: State;
  decide(state: State, event: Event, at: string): { state: State; commands: Command[] };
  /** Event of a passed `wakeAt`. */
  timer: Event;
  wakeAt(state: State): string | undefined;
  /** Starts the command; its end comes back as an event. */
  perform(command: Command): Promise<Event | undefined>;
  /** After each decision, before its commands: status, visibility. */
  show(state: State): void;
  /** Nothing of `show` is under way. */
  isShown(): boolean;
  isOver(state: State): boolean;
  /** History length after which the entity continues as new; absent: when the server suggests it. */
  continueAfter: number | undefined;
  continueAsNew(state: State): Promise<never>;
  /** What has to be done before that; what comes meanwhile is taken in first. Absent: nothing. */
  beforeContinuing?(state: State): Promise<void>;
}

/**
 * Runs an entity: one loop that takes events from the inbox, decides, and starts what was decided. It never waits for a command, so it is never deaf.
 * It continues as new when suggested and nothing is in the inbox or on its way. A request to cancel it has no effect: an entity ends with its object.
 */
export const runEntity = <State, Event, Command>(entity: Entity<State, Event, Command>): Promise<State> =>
  CancellationScope.nonCancellable(async () => {
    const { inbox } = entity;
    let state = entity.state;
    let performing = 0;

    const begin = async (command: Command): Promise<void> => {
      performing += 1;
      const event = await entity.perform(command);
      performing -= 1;
      if (event !== undefined) inbox.put(event);
    };
    const isQuiet = () => inbox.isEmpty() && performing === 0 && entity.isShown() && allHandlersFinished();
    const shouldContinue = () =>
      entity.continueAfter === undefined
        ? workflowInfo().continueAsNewSuggested
        : workflowInfo().historyLength >= entity.continueAfter;

    while (!entity.isOver(state)) {
      if (!(await somethingToDo(() => !inbox.isEmpty() || (shouldContinue() && isQuiet()), entity.wakeAt(state)))) {
        inbox.put(entity.timer);
      }
      const event = inbox.take();
      if (event === undefined) {
        await entity.beforeContinuing?.(state);
        if (!isQuiet()) continue;
        return await entity.continueAsNew(state);
      }
      const decision = entity.decide(state, event, now());
      state = decision.state;
      // Shown first: a command may have to wait until the world has seen what it follows from.
      entity.show(state);
      for (const command of decision.commands) void begin(command);
    }
    await condition(() => performing === 0 && entity.isShown() && allHandlersFinished());
    return state;
  });

/** False when `wakeAt` came first. */
const somethingToDo = async (isSo: () => boolean, wakeAt: string | undefined): Promise<boolean> => {
  if (isSo()) return true;
  if (wakeAt === undefined) {
    await condition(isSo);
    return true;
  }
  return condition(isSo, Math.max(1, msUntil(wakeAt, now())), { summary: `until ${wakeAt}` });
};
