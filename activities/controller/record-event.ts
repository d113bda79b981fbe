import type { ControllerActivities } from '../../api/contract/activities.ts';
import { KUBEVIRT_API_VERSION } from '../../api/kubevirt/types.ts';
import type { ControllerPorts } from './ports.ts';

/** A Kubernetes Event on the object. Events are for people to read: one that cannot be written is logged and changes nothing. */
export const recordEvent =
  ({ kube, log }: Pick<ControllerPorts, 'kube' | 'log'>): ControllerActivities['recordEvent'] =>
  async ({ kind, ref, type, reason, message }) => {
    try {
      await kube.event({
        involved: { apiVersion: KUBEVIRT_API_VERSION, kind, ...ref },
        type,
        reason,
        message,
        component: 'virtflow-controller',
      });
    } catch (error) {
      log.warn({ err: error, kind, ref, reason }, 'event not recorded');
    }
  };
