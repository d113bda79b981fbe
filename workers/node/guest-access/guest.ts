import type { Launcher } from '../../../activities/node/launcher-client/client.ts';
import { withLauncher } from '../../../activities/node/connect.ts';
import type { NodePorts } from '../../../activities/node/ports.ts';
import { verifyLivePod } from '../../../activities/node/verify.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { Refusal } from './refusal.ts';
import type { GuestTarget } from './request.ts';

export type GuestPorts = Pick<NodePorts, 'kube' | 'node' | 'pods' | 'launchers'>;

/**
 * Makes sure that the Pod is this node's and the VMI's, by the API server and by its launcher, and that the guest runs in it now; then does what is
 * to be done.
 * @throws Refusal, or a failure that `toRefusal` understands
 */
export const withGuest = async <T>(
  ports: GuestPorts,
  { vmi, pod }: GuestTarget,
  act: (launcher: Launcher, pod: Pod) => Promise<T>,
): Promise<T> => {
  const on = { vmi, pod: { ...pod, node: ports.node } };
  const live = await verifyLivePod(ports, on);
  return withLauncher(ports, on, async (launcher) => {
    const obstacle = obstacleOf(await launcher.getDomain(vmi.uid));
    if (obstacle !== undefined) throw new Refusal(409, `VMI ${vmi.namespace}/${vmi.name}: ${obstacle}`);
    return act(launcher, live);
  });
};

/** Why the guest cannot be reached here (any more); undefined: it can. Pure. */
export const obstacleOf = ({ state, end }: Pick<DomainReport, 'state' | 'end'>): string | undefined => {
  if (end === 'migrated') return 'the guest has moved to another node';
  if (end !== undefined) return 'the guest has ended';
  switch (state) {
    case 'running':
    case 'paused':
    case 'shuttingDown':
      return undefined;
    case 'incoming':
      return 'the guest is on its way to this node';
    default:
      return 'the guest does not run';
  }
};
