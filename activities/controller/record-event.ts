import type { ObjectRef } from '../../api/contract/refs.ts';
import { KUBEVIRT_API_VERSION } from '../../api/kubevirt/types.ts';
import type { ControllerPorts } from './ports.ts';

export type EventReason =
  | 'SuccessfulCreate'
  | 'SuccessfulDelete'
  | 'FailedCreate'
  | 'FailedDelete'
  | 'SuccessfulPaused'
  | 'SuccessfulResumed'
  | 'FailedPvcNotFound'
  | 'SyncFailed'
  | 'Created'
  | 'Started'
  | 'ShuttingDown'
  | 'Stopped'
  | 'Paused'
  | 'Unpaused'
  | 'IOerror'
  | 'SoftRebooted'
  | 'PreparingTarget'
  | 'Migrating'
  | 'Migrated'
  | 'SuccessfulMigration'
  | 'FailedMigration'
  | 'MigrationBackoff'
  | 'RequestServed'
  | 'RequestObsolete'
  | 'RequestRefused'
  | 'Triggered';

/** What `kubectl describe` shows of an object, with KubeVirt's reasons. */
export interface ObjectEvent {
  kind:
    | 'VirtualMachine'
    | 'VirtualMachineInstance'
    | 'VirtualMachineInstanceMigration'
    | 'VirtualMachineInstanceReplicaSet';
  ref: ObjectRef;
  reason: EventReason;
  message: string;
  /** Something went wrong. */
  isWarning?: boolean;
  /** Said again with the same word it is the same Event, whenever that is; absent: within seconds. */
  once?: string;
}

/** Records a Kubernetes Event. Events are for people to read: one that cannot be written is logged and changes nothing. */
export const recordEvent = async (
  { kube, log }: { kube: Pick<ControllerPorts['kube'], 'event'>; log: Pick<ControllerPorts['log'], 'warn'> },
  { kind, ref, reason, message, isWarning = false, once }: ObjectEvent,
): Promise<void> => {
  const involved = { apiVersion: KUBEVIRT_API_VERSION, kind, ...ref };
  try {
    const type = isWarning ? 'Warning' : 'Normal';
    await kube.event({
      involved,
      type,
      reason,
      message,
      component: 'virtflow-controller',
      ...(once === undefined ? {} : { once }),
    });
  } catch (error) {
    log.warn({ err: error, kind, ref, reason }, 'event not recorded');
  }
};
