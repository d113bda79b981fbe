import type { RunToken } from '../../api/contract/activities.ts';
import type { OperationResult, StartInput } from '../../api/contract/operations.ts';
import { operation } from '../operation/operation.ts';
import { WAIT_LIMIT_MS } from '../operation/patience.ts';
import { podPlaced, podReady, whilePodStarts } from '../operation/pod-readiness.ts';
import { controllerActivities, longNodeActivities } from '../shared/proxies.ts';
import { together } from '../shared/together.ts';
import { domainRunning } from './await-running.ts';
import type { Retiring } from './retire-pods.ts';
import { retirePods } from './retire-pods.ts';

/** From an accepted VMI to a running domain: AdmitInstance, CheckVolumes → AcquireToken → CreateLauncherPod → … → AwaitRunning. */
export async function startInstance(input: StartInput): Promise<OperationResult> {
  const { vmi, attempt } = input;
  return operation('start', input, async (op) => {
    const { step, enter, found } = op;
    let acquired: RunToken | undefined;
    const retiring: Pick<Retiring, 'asked' | 'proven'> = { asked: undefined, proven: [] };

    enter('Pending', 'quietly');
    const [admitted] = await together(
      () => step('AdmitInstance', { run: ({ summary }) => controllerActivities(summary).admitInstance(vmi) }),
      () => step('CheckVolumes', { run: ({ summary }) => controllerActivities(summary).checkVolumes(vmi) }),
    );
    const { epoch } = await step('AcquireToken', {
      run: async ({ summary }) => (acquired = await controllerActivities(summary).acquireToken({ vmi, attempt })),
      undo: async ({ summary }) => {
        // An answer that was lost is asked for again: this attempt's epoch, or a new one; never the epoch of anybody else.
        const { acquireToken, releaseToken } = controllerActivities(summary);
        const { epoch } = acquired ?? (await acquireToken({ vmi, attempt }));
        await releaseToken({ vmi, epoch });
      },
    });
    found({ epoch });

    const created = await step('CreateLauncherPod', {
      run: ({ summary }) => controllerActivities(summary).ensureLauncherPod({ vmi, attempt, epoch }),
      undo: async (round, why) => {
        const kept = await retirePods(op, { ...retiring, vmi, why }, round);
        found({ pod: kept });
        return kept === undefined ? undefined : 'keep';
      },
    });
    found({ pod: { name: created.name, uid: created.uid } });

    enter('Scheduling');
    const awaited = { vmi, pod: created, limitSeconds: () => WAIT_LIMIT_MS / 1000 };
    const pod = await step('AwaitNode', { run: (round) => podPlaced(op, awaited, round) });
    const { node } = pod;
    found({ pod });
    await together(
      () => step('BindToken', { run: ({ summary }) => controllerActivities(summary).bindToken({ vmi, epoch, pod }) }),
      () => step('AwaitPod', { run: (round) => podReady(op, awaited, round) }),
    );

    enter('Scheduled');
    const report = await step('SyncInstance', {
      node,
      run: (round) => {
        retiring.asked = pod;
        const paused = input.paused ?? admitted.startPaused ?? false;
        const request = { vmi, pod, epoch, ...(paused ? { paused } : {}) };
        return whilePodStarts(op, pod, round, () => longNodeActivities(node, round.summary).syncInstance(request));
      },
    });
    // That it runs is told with the end.
    await step('AwaitRunning', { node, run: (round) => domainRunning(op, vmi, pod, report, round) });
  });
}
