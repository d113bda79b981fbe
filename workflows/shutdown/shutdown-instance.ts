import type { OperationResult, ShutdownInput } from '../../api/contract/operations.ts';
import { operation } from '../operation/operation.ts';
import { controllerActivities, localActivities } from '../shared/proxies.ts';
import { untilPodGone } from '../operation/pod-gone.ts';
import { destroyed, proven, signalGuest, stopped } from './guest.ts';
import { newShutdown } from './state.ts';

/** From a guest that shall end to nothing left of it: SignalGuest → AwaitStopped → DestroyDomain → ProveGone → DeletePod → … → ReleaseToken. */
export async function shutdownInstance(input: ShutdownInput): Promise<OperationResult> {
  const { vmi, epoch } = input;
  return operation('shutdown', input, async (op) => {
    const { step, enter, found } = op;
    const shutdown = newShutdown(op, input);
    const { pod, on } = shutdown;
    found({ pod, deadline: input.deadline, ...(epoch === undefined ? {} : { epoch }) });

    // Its entity has no use for these phases, and hears of what stands in the way.
    enter('Signalling', 'inPassing');
    await step('SignalGuest', { ...on, run: (round) => signalGuest(shutdown, round) });
    enter('Stopping', 'inPassing');
    await step('AwaitStopped', { run: (round) => stopped(shutdown, round) });
    if (!shutdown.isStopped()) {
      enter('Destroying', 'quietly');
      await step('DestroyDomain', { ...on, endless: true, run: (round) => destroyed(shutdown, round) });
    }

    enter('Removing', 'inPassing');
    await step('ProveGone', { ...on, endless: true, run: (round) => proven(shutdown, round) });
    found({ end: shutdown.end() });
    // Over the queue: what proves that the guest is gone is on record before its Pod is.
    const left = await step('DeletePod', {
      run: ({ summary }) => controllerActivities(summary).deletePod({ vmi, pod }),
    });
    await step('AwaitPodGone', { endless: true, run: (round) => untilPodGone(op, vmi, pod, round, left) });
    found({ end: shutdown.end() });
    if (epoch === undefined) return;
    await step('ReleaseToken', { run: ({ summary }) => localActivities(summary).releaseToken({ vmi, epoch }) });
  });
}
