import { continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Carried } from '../../api/contract/entities.ts';
import {
  limitsChanged,
  permitGranted,
  permitRequested,
  permitReturned,
  schedulerStatus,
} from '../../api/contract/migrations.ts';
import { runEntity } from '../shared/entity.ts';
import { newInbox } from '../shared/inbox.ts';
import { bookkeeping } from '../shared/proxies.ts';
import { tell } from '../shared/signals.ts';
import { decide } from './decide.ts';
import type { SchedulerCommand, SchedulerEvent, SchedulerState } from './state.ts';
import { initialState } from './state.ts';
import { detailsOf, statusOf } from './views.ts';

export interface SchedulerInput {
  carried?: Carried;
  /** Continue as new after this many history events; absent: when the server suggests it. */
  continueAfter?: number;
}

/** The entity that hands out permits to migrate. It has no end: with nothing to do it has neither timer nor activity. */
export async function migrationScheduler(input: SchedulerInput = {}): Promise<void> {
  const inbox = newInbox<SchedulerEvent>();
  let state = input.carried === undefined ? initialState() : (input.carried.state as SchedulerState);

  setHandler(permitRequested, (request) => inbox.put({ type: 'requested', request }));
  setHandler(permitReturned, ({ holder }) => inbox.put({ type: 'returned', holder }));
  setHandler(limitsChanged, () => inbox.put({ type: 'limitsChanged' }));
  setHandler(schedulerStatus, () => statusOf(state));

  await runEntity({
    ...{ inbox, state, decide, perform, timer: { type: 'timerFired' } },
    show: (shown) => {
      state = shown;
      setCurrentDetails(detailsOf(shown));
    },
    isShown: () => true,
    isOver: () => false,
    wakeAt: ({ wakeAt }) => wakeAt,
    continueAfter: input.continueAfter,
    continueAsNew: (last) =>
      continueAsNew<typeof migrationScheduler>({ ...input, carried: { version: 1, state: last } }),
  });
}

const perform = async (command: SchedulerCommand): Promise<SchedulerEvent | undefined> => {
  switch (command.type) {
    case 'grant':
      return (await tell(command.holder, permitGranted)) ? undefined : { type: 'holderGone', holder: command.holder };
    case 'observe': {
      const { holders } = command;
      const request = holders === undefined ? {} : { holders };
      const observed = await bookkeeping('Look at who migrates').observePermits(request);
      return { type: 'observed', all: holders === undefined, ...observed };
    }
  }
};
