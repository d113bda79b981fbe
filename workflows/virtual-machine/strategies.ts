import type { VirtualMachineState } from './state.ts';
import { pendingStart } from './state.ts';

/** Run strategies that virtflow carries out. */
const SUPPORTED = ['Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once'];

/** Under these an instance that never ran counts as a failed start, and the next one waits. */
const COUNTS_FAILURES = ['Always', 'RerunOnFailure', 'Once'];

export const countsFailures = (runStrategy: string | undefined): boolean => COUNTS_FAILURES.includes(runStrategy ?? '');

/** Why nothing is started or stopped for this VM; undefined: its run strategy is carried out. */
export const obstacleOf = ({ object }: VirtualMachineState): { reason: string; message: string } | undefined => {
  if (object === undefined) return undefined;
  if (object.invalid !== undefined) return { reason: 'InvalidSpec', message: object.invalid };
  const { runStrategy } = object;
  if (SUPPORTED.includes(runStrategy)) return undefined;
  const why =
    runStrategy === 'WaitAsReceiver'
      ? 'virtflow does not take guests from other clusters yet'
      : `it is none of ${SUPPORTED.join(', ')}`;
  return {
    reason: 'UnsupportedSyncError',
    message: `spec.runStrategy ${runStrategy} is not carried out: ${why}. Set ${SUPPORTED.slice(0, -1).join(', ')} or Once.`,
  };
};

/** Whether an instance is wanted while there is none. */
export const startsNext = (state: VirtualMachineState): boolean => {
  const { object, ranUnder } = state;
  switch (object?.runStrategy) {
    case 'Always':
    case 'Once':
      return true;
    case 'RerunOnFailure':
      // Also when it was chosen just now: nothing has run under it.
      return pendingStart(state) !== undefined || ranUnder !== object.runStrategy;
    case 'Manual':
      return pendingStart(state) !== undefined;
    default:
      return false;
  }
};

/** Whether an instance that has ended makes room: for the next one, or because nobody keeps it to be looked at. */
export const clearsEnded = (state: VirtualMachineState): boolean => {
  switch (state.object?.runStrategy) {
    case 'Always':
    case 'RerunOnFailure':
      return true;
    case 'Manual':
      return pendingStart(state) !== undefined;
    default:
      return false;
  }
};

/** A strategy is in force with its instance; one that starts nothing by itself as soon as it is chosen. */
export const withStrategyInForce = (state: VirtualMachineState): VirtualMachineState => {
  const { object, instance, ranUnder } = state;
  if (object === undefined) return state;
  const startsNothing = object.runStrategy === 'Halted' || object.runStrategy === 'Manual';
  if (instance === undefined && (ranUnder === undefined || !startsNothing)) return state;
  return { ...state, ranUnder: object.runStrategy };
};
