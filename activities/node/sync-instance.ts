import type { NodeActivities } from '../../api/contract/activities.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { podFacts } from '../facts/pod.ts';
import { failure } from '../failures.ts';
import { openLauncher } from './connect.ts';
import { refuseFenced } from './fence/activities.ts';
import type { Launcher } from './launcher-client/client.ts';
import type { NodePorts } from './ports.ts';
import type { Prepared } from './prepare-launcher.ts';
import { LAUNCHER_WAIT_MS, prepareLauncher } from './prepare-launcher.ts';
import type { Beating } from './progress.ts';
import { withHeartbeat } from './progress.ts';
import { together } from './together.ts';
import type { OnPod } from './verify.ts';
import { verifyLivePod } from './verify.ts';
import { verifyToken } from './verify-token.ts';
import { whileAwaited } from './while-awaited.ts';

/**
 * Hands a VMI over to its launcher: disks, network, SyncVMI under the token's live epoch. Safe to run twice, also under a running guest, and to be
 * killed anywhere: everything that is there already stays.
 */
export const syncInstance =
  (ports: NodePorts): NodeActivities['syncInstance'] =>
  (request) =>
    whileAwaited(ports, request.pod.uid, () => withHeartbeat(ports, (progress) => sync(ports, request, progress)));

const sync = async (
  ports: NodePorts,
  { vmi: ref, pod: podRef, epoch, paused = false }: Parameters<NodeActivities['syncInstance']>[0],
  progress: Beating,
): Promise<DomainReport> => {
  const request = { vmi: ref, pod: podRef, epoch };
  const [pod] = await Promise.all([verifyLivePod(ports, request), verifyToken(ports, request)]);
  refuseTarget(pod);
  const [{ vmi, host }, launcher] = await reach(ports, request, pod, progress);
  try {
    // Again, because what came before can have taken long: from here on only the launcher's own check of the epoch follows.
    await Promise.all([verifyToken(ports, request), refuseFenced(ports)]);
    progress.report('starting the domain');
    return await launcher.syncVMI({
      vmiUid: ref.uid,
      vmiJson: JSON.stringify(vmi),
      tokenEpoch: epoch,
      hostJson: JSON.stringify(host),
      paused,
    });
  } finally {
    launcher.close();
  }
};

/** Prepares the launcher's surroundings, and connects to it meanwhile. Once all is prepared it has a while left to come up. */
const reach = async (
  ports: NodePorts,
  on: OnPod,
  pod: Pod,
  progress: Beating,
): Promise<readonly [Prepared, Launcher]> => {
  let until = Infinity;
  let connected: Launcher | undefined;
  const connect = async (cancelled: AbortSignal): Promise<Launcher> =>
    (connected = await openLauncher(ports, on, { until: () => until, cancelled }));
  const prepare = (cancelled: AbortSignal): Promise<Prepared> =>
    prepareLauncher(ports, { on, pod }, { ...progress, cancelled }).finally(() => {
      until = Date.now() + LAUNCHER_WAIT_MS;
    });
  try {
    return await together(progress.cancelled, (cancelled) => [prepare(cancelled), connect(cancelled)]);
  } catch (error) {
    connected?.close();
    throw error;
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
