import type { NodeActivities } from '../../api/contract/activities.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { withLauncher } from './connect.ts';
import type { Launcher } from './launcher-client/client.ts';
import type { NodePorts } from './ports.ts';
import { proveDomainGone } from './prove-domain-gone.ts';
import { verifyPod } from './verify.ts';
import { whileAwaited } from './while-awaited.ts';

type Ports = Pick<NodePorts, 'kube' | 'node' | 'launchers'>;

/** A guest that takes longer than this is told of when it has stopped, in ms. */
const STOPS_AT_ONCE_MS = 2_000;

/** So many are waited for at a time: nobody else's command is to wait behind them. */
const WAITING = 10;

/**
 * Hands the deadline to the launcher, which signals the guest and enforces it, and waits a moment for the guest's end. A Pod that is gone for the API
 * server may still run its guest.
 */
export const shutdownDomain = (ports: NodePorts): NodeActivities['shutdownDomain'] => {
  const prove = proveDomainGone(ports);
  let waiting = 0;
  const untilStopped = async (launcher: Launcher, told: DomainReport): Promise<DomainReport> => {
    if (told.state !== 'shuttingDown' || waiting >= WAITING) return told;
    waiting += 1;
    return ended(launcher, told).finally(() => (waiting -= 1));
  };
  return (request) =>
    whileAwaited(ports, request.pod.uid, async () => {
      await verifyPod(ports, request);
      const deadline = new Date(request.deadline);
      const report = await withLauncher(ports, request, async (launcher) =>
        untilStopped(launcher, await launcher.shutdownVMI(request.vmi.uid, deadline)),
      );
      // Without it the workflow asks for the proof by itself.
      const gone = hasStopped(report) ? await prove(request).catch(() => undefined) : undefined;
      return { ...report, ...(gone === undefined ? {} : { gone }) };
    });
};

const hasStopped = ({ state }: DomainReport): boolean => state === 'shutoff' || state === 'crashed';

/** The report of its end; if that does not come soon, the one that there is. */
const ended = async (launcher: Launcher, told: DomainReport): Promise<DomainReport> => {
  try {
    const signal = AbortSignal.timeout(STOPS_AT_ONCE_MS);
    for await (const report of launcher.watchEvents({ after: told.sequence, signal }))
      if (hasStopped(report)) return report;
  } catch {
    // Whoever follows the launcher tells what becomes of it.
  }
  return told;
};

/** Destroys the domain now. */
export const destroyDomain =
  (ports: Ports): NodeActivities['destroyDomain'] =>
  async (request) => {
    await verifyPod(ports, request);
    return withLauncher(ports, request, (launcher) => launcher.killVMI(request.vmi.uid));
  };

/** What the launcher says now. */
export const inspectDomain =
  (ports: Ports): NodeActivities['inspectDomain'] =>
  async (request) => {
    await verifyPod(ports, request);
    return withLauncher(ports, request, (launcher) => launcher.getDomain(request.vmi.uid));
  };
