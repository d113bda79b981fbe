import type { ConditionReport, InstanceReport } from '../../../api/contract/activities.ts';
import type { GuestEnd } from '../../../api/contract/operations.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isFinal } from '../../facts/instance.ts';
import type { ObjectEvent } from '../record-event.ts';

/** One word about an instance; said again with the same `once` it is one Event. */
export type InstanceEvent = Pick<ObjectEvent, 'reason' | 'message' | 'isWarning'> & { once: string };

/**
 * What the object does not say yet and people are told of, with KubeVirt's reasons and, where its users know them, its words. Pure: compares the
 * object with what is about to be written on it.
 */
export const eventsOf = (vmi: VirtualMachineInstance, report: InstanceReport): InstanceEvent[] => [
  ...shutdownEvents(vmi, report),
  ...phaseEvents(vmi, report),
  ...migrationEvents(vmi, report),
  ...pauseEvents(vmi, report),
  ...troubleEvents(vmi, report),
];

const phaseEvents = ({ status }: VirtualMachineInstance, { phase, phaseTimes }: InstanceReport): InstanceEvent[] => {
  if (status?.phase === phase) return [];
  const once = phase;
  const ran = [...(status?.phaseTransitionTimestamps ?? []), ...phaseTimes].some(
    (passed) => passed.phase === 'Running',
  );
  switch (phase) {
    case 'Running':
      return [
        { reason: 'Created', message: 'VirtualMachineInstance defined.', once },
        { reason: 'Started', message: 'VirtualMachineInstance started.', once },
      ];
    case 'Succeeded':
      return [{ reason: 'Stopped', message: 'The VirtualMachineInstance was shut down.', once }];
    case 'Failed':
      // What never ran has not crashed.
      return ran ? [{ reason: 'Stopped', message: 'The VirtualMachineInstance crashed.', isWarning: true, once }] : [];
    default:
      return [];
  }
};

/** Ends of guests that were told to end. */
const TOLD: readonly (GuestEnd | undefined)[] = ['agentShutdown', 'acpiShutdown', 'destroyedAtDeadline'];

/** A guest that was told to end, by whatever signal. One that ends at once is not seen before it has. */
const shutdownEvents = (
  { status }: VirtualMachineInstance,
  { phase, domain, end }: InstanceReport,
): InstanceEvent[] => {
  const isEnding = domain?.state === 'shuttingDown' && domain.deadline !== undefined;
  const hasEnded = isFinal(phase) && status?.phase !== phase && TOLD.includes(end);
  return isEnding || hasEnded
    ? [{ reason: 'ShuttingDown', message: 'Signaled Graceful Shutdown', once: 'ShuttingDown' }]
    : [];
};

const migrationEvents = ({ status }: VirtualMachineInstance, { migration }: InstanceReport): InstanceEvent[] => {
  if (migration === undefined) return [];
  const {
    phase,
    startedAt,
    migration: { uid },
  } = migration;
  const known = status?.migrationState?.migrationUid === uid ? status.migrationState : undefined;
  const isPrepared = phase === 'TargetReady' || phase === 'Running';
  const prepared = { reason: 'PreparingTarget', message: 'VirtualMachineInstance Migration Target Prepared.' } as const;
  const migrating = { reason: 'Migrating', message: 'VirtualMachineInstance is migrating.' } as const;
  return [
    ...(isPrepared && known?.startTimestamp === undefined ? [{ ...prepared, once: uid }] : []),
    ...(phase === 'Running' && startedAt !== undefined && known?.startTimestamp === undefined
      ? [{ ...migrating, once: uid }]
      : []),
  ];
};

const isTrue = (type: string, conditions: { type: string; status: string; reason?: string }[] = []) =>
  conditions.find((condition) => condition.type === type && condition.status === 'True');

const pauseEvents = ({ status }: VirtualMachineInstance, { conditions, domain }: InstanceReport): InstanceEvent[] => {
  const [before, now] = [isTrue('Paused', status?.conditions), isTrue('Paused', conditions)];
  if (domain === undefined || before?.reason === now?.reason) return [];
  const once = `${domain.podUid}/${domain.sequence.epoch}/${domain.sequence.n}`;
  if (now === undefined) return [{ reason: 'Unpaused', message: 'VirtualMachineInstance unpaused', once }];
  if (now.reason === 'PausedByUser') return [{ reason: 'Paused', message: 'VirtualMachineInstance paused', once }];
  if (now.reason !== 'PausedIOError') return [];
  return [{ reason: 'IOerror', message: 'VirtualMachineInstance paused: its storage failed', isWarning: true, once }];
};

/** Reasons of Synchronized that are those of Events, too; every other failure is told as SyncFailed. */
const OWN_REASONS = ['FailedCreate', 'FailedPvcNotFound'] as const;

const troubleEvents = ({ status }: VirtualMachineInstance, { conditions }: InstanceReport): InstanceEvent[] => {
  const isFalse = ({ type, status: now }: { type: string; status: string }): boolean =>
    type === 'Synchronized' && now === 'False';
  const trouble: ConditionReport | undefined = conditions.find(isFalse);
  const { reason, message = '' } = trouble ?? {};
  const known = (status?.conditions ?? []).find(isFalse);
  if (trouble === undefined || (known?.reason === reason && known?.message === message)) return [];
  return [
    { reason: OWN_REASONS.find((own) => own === reason) ?? 'SyncFailed', message, isWarning: true, once: 'trouble' },
  ];
};
