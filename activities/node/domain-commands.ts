import type { NodeActivities } from '../../api/contract/activities.ts';
import { withLauncher } from './connect.ts';
import type { NodePorts } from './ports.ts';
import { verifyPod } from './verify.ts';

type Ports = Pick<NodePorts, 'kube' | 'node' | 'launchers'>;

/** Hands the deadline to the launcher, which signals the guest and enforces it. A Pod that is gone for the API server may still run its guest. */
export const shutdownDomain =
  (ports: Ports): NodeActivities['shutdownDomain'] =>
  async (request) => {
    await verifyPod(ports, request);
    const deadline = new Date(request.deadline);
    return withLauncher(ports, request, (launcher) => launcher.shutdownVMI(request.vmi.uid, deadline));
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
