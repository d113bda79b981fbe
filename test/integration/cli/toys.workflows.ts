import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { entityStatus } from '../../../api/contract/entities.ts';
import type { MigrationReport } from '../../../api/contract/migrations.ts';
import type { OperationResult, OperationStatus } from '../../../api/contract/operations.ts';
import { operationStatus } from '../../../api/contract/operations.ts';

/** To a toy: it is over, with this report. */
export const finish = defineSignal<[MigrationReport]>('finish');

const { migrateVMI } = proxyActivities<{ migrateVMI(): Promise<void> }>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 s',
});

/** A migration as the command line sees it: it answers the query, an activity heartbeats, and the result has the report. */
export async function migrateInstance(status: OperationStatus): Promise<OperationResult> {
  let report: MigrationReport | undefined;
  setHandler(operationStatus, () => ({ ...status, ...(report && { migration: report }) }));
  setHandler(finish, (last) => void (report = last));
  void migrateVMI().catch(() => undefined);
  await condition(() => report !== undefined);
  return { kind: 'migrate', steps: status.steps, ...(report && { migration: report }) };
}

/** An instance that does nothing. */
export async function virtualMachineInstance(): Promise<void> {
  setHandler(entityStatus, () => ({ ref: { namespace: '', name: '', uid: '' }, phase: 'Running' }));
  await condition(() => false);
}
