import type { InstanceFacts } from '../../api/contract/facts.ts';
import { crashLoopDelayMs, shareOf } from '../shared/crash-loop.ts';
import { after } from '../shared/time.ts';
import type { StartFailures, VirtualMachineState } from './state.ts';
import { isFinal } from './state.ts';
import { countsFailures } from './strategies.ts';

/** Counts an instance that ended without ever running; one that runs clears the count. */
export const withStartFailures = (
  state: VirtualMachineState,
  instance: InstanceFacts,
  at: string,
): VirtualMachineState => {
  const { uid } = instance.vmi;
  const hasRun = instance.ran === true || instance.phase === 'Running' || instance.phase === 'Succeeded';
  const ranUid = hasRun ? uid : state.ranUid;
  const { startFailures, ranUid: _, ...rest } = state;
  const seen = { ...rest, ...(ranUid === undefined ? {} : { ranUid }) };
  if (ranUid === uid || !countsFailures(state.object?.runStrategy)) return seen;
  if (!isFinal(instance) || instance.deleting || startFailures?.lastUid === uid) {
    return startFailures === undefined ? seen : { ...seen, startFailures };
  }
  return { ...seen, startFailures: oneMore(startFailures, uid, at) };
};

const oneMore = (failures: StartFailures | undefined, uid: string, at: string): StartFailures => {
  const count = (failures?.count ?? 0) + 1;
  return { count, lastUid: uid, retryAt: after(at, crashLoopDelayMs(count, shareOf(uid))) };
};
