import type { OperationResult, ShutdownInput } from '../../api/contract/operations.ts';
import { operation } from '../operation/operation.ts';
import { controllerActivities } from '../shared/proxies.ts';
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

    enter('Signalling');
    await step('SignalGuest', { ...on, run: (round) => signalGuest(shutdown, round) });
    enter('Stopping');
    await step('AwaitStopped', { run: (round) => stopped(shutdown, round) });
    if (!shutdown.isStopped()) {
      enter('Destroying');
      await step('DestroyDomain', { ...on, endless: true, run: (round) => destroyed(shutdown, round) });
    }

    enter('Removing');
    await step('ProveGone', { ...on, endless: true, run: (round) => proven(shutdown, round) });
    found({ end: shutdown.end() });
    await step('DeletePod', { run: ({ summary }) => controllerActivities(summary).deletePod({ vmi, pod }) });
    await step('AwaitPodGone', { endless: true, run: (round) => untilPodGone(op, vmi, pod, round) });
    found({ end: shutdown.end() });
    if (epoch === undefined) return;
    await step('ReleaseToken', { run: ({ summary }) => controllerActivities(summary).releaseToken({ vmi, epoch }) });
  });
}
