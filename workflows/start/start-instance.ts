import { condition } from '@temporalio/workflow';
import type { RunToken } from '../../api/contract/activities.ts';
import type { OperationResult, StartInput, StartShown } from '../../api/contract/operations.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { hasEnded } from '../operation/observations.ts';
import type { Round } from '../operation/operation.ts';
import { operation } from '../operation/operation.ts';
import { WAIT_LIMIT_MS } from '../operation/patience.ts';
import { podPlaced, podReady, whilePodStarts } from '../operation/pod-readiness.ts';
import { controllerActivities, longNodeActivities, localActivities } from '../shared/proxies.ts';
import { now } from '../shared/time.ts';
import { together } from '../shared/together.ts';
import { domainRunning } from './await-running.ts';
import { showStart } from './show.ts';
import type { Retiring } from './retire-pods.ts';
import { retirePods } from './retire-pods.ts';

/** From an accepted VMI to a running domain: AdmitInstance, CheckVolumes → AcquireToken → CreateLauncherPod → … → AwaitRunning. */
export async function startInstance(input: StartInput): Promise<OperationResult> {
  const { vmi, attempt } = input;
  return operation('start', input, async (op) => {
    const { step, enter, found } = op;
    let acquired: RunToken | undefined;
    const retiring: Pick<Retiring, 'asked' | 'proven'> = { asked: undefined, proven: [] };

    enter('Pending', 'inPassing');
    const [admitted] = await together(
      () => step('AdmitInstance', { run: ({ summary }) => localActivities(summary).admitInstance(vmi) }),
      () => step('CheckVolumes', { run: ({ summary }) => localActivities(summary).checkVolumes(vmi) }),
    );
    const { epoch } = await step('AcquireToken', {
      run: async ({ summary }) => (acquired = await localActivities(summary).acquireToken({ vmi, attempt })),
      undo: async ({ summary }) => {
        // An answer that was lost is asked for again: this attempt's epoch, or a new one; never the epoch of anybody else.
        const { acquireToken, releaseToken } = controllerActivities(summary);
        const { epoch } = acquired ?? (await acquireToken({ vmi, attempt }));
        await releaseToken({ vmi, epoch });
      },
    });
    found({ epoch });

    const created = await step('CreateLauncherPod', {
      run: ({ summary }) => localActivities(summary).ensureLauncherPod({ vmi, attempt, epoch }),
      undo: async (round, why) => {
        const kept = await retirePods(op, { ...retiring, vmi, why }, round);
        found({ pod: kept });
        return kept === undefined ? undefined : 'keep';
      },
    });
    const { name, uid, node: placedOn } = created;
    found({ pod: { name, uid, ...(placedOn === undefined ? {} : { node: placedOn }) } });
    let start: StartShown = { podFacts: created, phaseTimes: [{ phase: 'Scheduling', at: now() }] };
    found({ start });

    // It mostly has its node by then. All that its entity could do with that is to write it into the status, and that is cheaper here.
    const isQuiet = (): boolean => placedOn !== undefined && op.isQuiet();
    enter('Scheduling', isQuiet() ? 'inPassing' : undefined);
    const awaited = { vmi, pod: created, limitSeconds: () => WAIT_LIMIT_MS / 1000 };
    const pod = await step('AwaitNode', { run: (round) => podPlaced(op, awaited, round) });
    const { node } = pod;
    found({ pod });
    // The node's worker is asked as soon as it may be: it sees sooner than anybody when the launcher is up. Once it has waited in vain it is not asked
    // again before the Pod is ready.
    let isReady = false;
    let isAskedAhead = true;
    const handOver = async (round: Round): Promise<DomainReport> => {
      if (!isAskedAhead) await condition(() => isReady);
      isAskedAhead = false;
      retiring.asked = pod;
      const paused = input.paused ?? admitted.startPaused ?? false;
      const request = { vmi, pod, epoch, ...(paused ? { paused } : {}) };
      const sync = () => longNodeActivities(node, round.summary).syncInstance(request);
      return whilePodStarts(op, pod, round, sync, () => isReady);
    };
    // Both before anything follows from one of them: in which order local activities end is not on record.
    await together(
      () => step('BindToken', { run: ({ summary }) => localActivities(summary).bindToken({ vmi, epoch, pod }) }),
      async () => void (isQuiet() && (await showStart(vmi, start))),
    );
    const [, report] = await together(
      async () => {
        await step('AwaitPod', { run: (round) => podReady(op, awaited, round) });
        isReady = true;
        const isAnswered = op.seen.domain(uid) !== undefined;
        enter('Scheduled', !op.isQuiet() ? undefined : isAnswered ? 'inPassing' : 'quietly');
        start = passing(start, 'Scheduled');
        found({ start });
      },
      async () => {
        const answer = await step('SyncInstance', { node, run: handOver });
        op.seen.sawDomain(answer);
        return answer;
      },
    );
    // That it runs is told with the end.
    await step('AwaitRunning', { node, run: (round) => domainRunning(op, vmi, pod, report, round) });
    const domain = op.seen.domain(uid) ?? report;
    start = { ...passing(start, 'Running'), podFacts: { ...(op.seen.pod(uid) ?? created), node }, domain };
    const isShown = isQuiet() && !hasEnded(domain) && (await showStart(vmi, start));
    found({ start: { ...start, ...(isShown ? { isShown } : {}) } });
  });
}

const passing = (start: StartShown, phase: string): StartShown => ({
  ...start,
  phaseTimes: [...start.phaseTimes, { phase, at: now() }],
});
