import type { FailureInfo } from '../../../api/contract/failures.ts';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { unfinished } from './read.ts';

/** Why a VMI cannot be migrated as it stands, whatever it is made of; undefined: it runs. */
export const notRunning = ({ metadata, status }: VirtualMachineInstance): string | undefined => {
  const phase = status?.phase || 'Pending';
  if (metadata?.deletionTimestamp !== undefined) return 'it is being shut down';
  if (phase !== 'Running') return `its phase is ${phase}, and only a running one can be migrated`;
  const paused = status?.conditions?.find((condition) => condition.type === 'Paused' && condition.status === 'True');
  if (paused?.reason !== 'PausedIOError') return undefined;
  return `an I/O error paused it (${paused.message ?? paused.reason}). Repair its disk, and unpause it`;
};

/**
 * A VMI is migrated once at a time: the oldest unfinished migration goes on, any younger one ends at once.
 * @param migrations of the VMI, oldest first
 */
export const olderUnfinished = (
  migrations: VirtualMachineInstanceMigration[],
  uid: string,
): FailureInfo | undefined => {
  const older = migrations.slice(
    0,
    migrations.findIndex(({ metadata }) => metadata?.uid === uid),
  );
  const underWay = unfinished(older);
  if (underWay === undefined) return undefined;
  const { name } = underWay.metadata ?? {};
  return {
    type: 'OperationUnderWay',
    message: `Migration ${name} of the same VMI is under way. Wait for its end, or cancel it: kubectl delete vmim ${name}.`,
  };
};
