import type { NodeActivities } from '../../api/contract/activities.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { podFacts } from '../facts/pod.ts';
import { failure } from '../failures.ts';
import { withLauncher } from './connect.ts';
import { refuseFenced } from './fence/activities.ts';
import type { NodePorts } from './ports.ts';
import { LAUNCHER_WAIT_MS, prepareLauncher } from './prepare-launcher.ts';
import type { Beating } from './progress.ts';
import { withHeartbeat } from './progress.ts';
import { verifyLivePod } from './verify.ts';
import { verifyToken } from './verify-token.ts';

/**
 * Hands a VMI over to its launcher: disks, network, SyncVMI under the token's live epoch. Safe to run twice, also under a running guest, and to be
 * killed anywhere: everything that is there already stays.
 */
export const syncInstance =
  (ports: NodePorts): NodeActivities['syncInstance'] =>
  ({ vmi: ref, pod: podRef, epoch, paused = false }) =>
    whileAwaited(ports, podRef.uid, async (progress) => {
      const request = { vmi: ref, pod: podRef, epoch };
      const [pod] = await Promise.all([verifyLivePod(ports, request), verifyToken(ports, request)]);
      refuseTarget(pod);
      const { vmi, host } = await prepareLauncher(ports, { on: request, pod }, progress);
      // Again, because what came before can have taken long: from here on only the launcher's own check of the epoch follows.
      await Promise.all([verifyToken(ports, request), refuseFenced(ports)]);
      progress.report('starting the domain');
      const sync = {
        vmiUid: ref.uid,
        vmiJson: JSON.stringify(vmi),
        tokenEpoch: epoch,
        hostJson: JSON.stringify(host),
        paused,
      };
      return withLauncher(ports, request, (launcher) => launcher.syncVMI(sync), {
        waitMs: LAUNCHER_WAIT_MS,
        cancelled: progress.cancelled,
      });
    });

/** Whoever follows the launcher need not tell meanwhile that it is there, nor that its guest runs: the answer says so. */
const whileAwaited = async (
  ports: NodePorts,
  podUid: string,
  run: (progress: Beating) => Promise<DomainReport>,
): Promise<DomainReport> => {
  const answer = withHeartbeat(ports, run);
  ports.awaited.set(
    podUid,
    answer.catch(() => undefined),
  );
  try {
    return await answer;
  } finally {
    ports.awaited.delete(podUid);
  }
};

/** In a migration's target the domain only ever comes by that migration. */
const refuseTarget = (pod: Pod): void => {
  const { name, migration } = podFacts(pod);
  if (migration === undefined) return;
  throw failure(
    'StaleToken',
    `Pod ${name} is the target of migration ${migration.name} (uid ${migration.uid}): no domain is started in it`,
  );
};
