import { ApplicationFailure, WorkflowFailedError, type WorkflowExecutionInfo } from '@temporalio/client';
import {
  operationStatus,
  WORKFLOWS,
  type OperationResult,
  type OperationStatus,
} from '../../api/contract/operations.ts';
import { isFailureType } from '../../api/contract/failures.ts';
import type { TemporalTarget } from '../temporal/connection.ts';
import type { OperationView, VmHistory } from './model.ts';

const STATES: Record<string, OperationView['state']> = {
  RUNNING: 'running',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timedOut',
};

const SECONDS_PER_DAY = 86_400;

/** Visibility query for the operations of a VM. Quotes cannot occur in Kubernetes names. */
export const operationsQuery = (namespace: string, name: string): string =>
  `VmNamespace = "${namespace}" AND VmName = "${name}" AND WorkflowType IN ("${WORKFLOWS.startInstance}", "${WORKFLOWS.shutdownInstance}")`;

/** Reads the newest `limit` operations of a VM from Temporal, oldest first. */
export async function collectHistory(
  temporal: TemporalTarget,
  vm: { namespace: string; name: string },
  limit: number,
  uiAddress: string | undefined,
): Promise<VmHistory> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const execution of temporal.client.workflow.list({ query: operationsQuery(vm.namespace, vm.name) })) {
    found.push(execution);
    if (found.length >= limit) break;
  }
  const operations = await Promise.all(found.map((execution) => view(temporal, vm, execution, uiAddress)));
  operations.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  const horizonDays = await retentionDays(temporal);
  return { ...vm, ...(horizonDays !== undefined && { horizonDays }), operations };
}

async function view(
  temporal: TemporalTarget,
  vm: { namespace: string; name: string },
  execution: WorkflowExecutionInfo,
  uiAddress: string | undefined,
): Promise<OperationView> {
  const state = STATES[execution.status.name] ?? 'running';
  const status = await statusOf(temporal, vm, execution, state);
  return {
    workflowId: execution.workflowId,
    runId: execution.runId,
    operation: execution.type === WORKFLOWS.startInstance ? 'start' : 'shutdown',
    state,
    startedAt: execution.startTime.toISOString(),
    ...(execution.closeTime && { endedAt: execution.closeTime.toISOString() }),
    ...(status && { status }),
    ...(uiAddress && { link: uiLink(uiAddress, temporal.namespace, execution.workflowId, execution.runId) }),
  };
}

/** Page of a workflow run in the Temporal UI. */
export const uiLink = (ui: string, namespace: string, workflowId: string, runId: string): string =>
  `${ui.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/${runId}/history`;

/** A running operation is asked; a closed one left its steps in its result or in its failure. */
async function statusOf(
  temporal: TemporalTarget,
  vm: { namespace: string; name: string },
  execution: WorkflowExecutionInfo,
  state: OperationView['state'],
): Promise<OperationStatus | undefined> {
  const handle = temporal.client.workflow.getHandle(execution.workflowId, execution.runId);
  if (state === 'succeeded') return withIdentity((await handle.result()) as OperationResult, vm, execution);
  if (state === 'running' || state === 'cancelled') return handle.query(operationStatus).catch(() => undefined);
  try {
    await handle.result();
    return undefined;
  } catch (error) {
    return failureDetails(error);
  }
}

/** The result names no uid and attempt: they stand in the workflow's id. */
const withIdentity = (
  result: OperationResult,
  vm: { namespace: string; name: string },
  execution: WorkflowExecutionInfo,
): OperationStatus => ({
  ...result,
  vmi: { ...vm, uid: execution.workflowId.split('/')[1] ?? '' },
  attempt: Number(execution.workflowId.split('/')[2] ?? 1),
  phase: 'Done',
});

/** OperationStatus out of a failed operation's details. */
function failureDetails(error: unknown): OperationStatus | undefined {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const [status] = (error.cause.details ?? []) as OperationStatus[];
  if (!status) return undefined;
  const type = isFailureType(error.cause.type) ? error.cause.type : 'Unknown';
  return { ...status, failure: status.failure ?? { type, message: error.cause.message } };
}

async function retentionDays(temporal: TemporalTarget): Promise<number | undefined> {
  const { config } = await temporal.connection.workflowService.describeNamespace({ namespace: temporal.namespace });
  const ttl = config?.workflowExecutionRetentionTtl?.seconds;
  return ttl == null ? undefined : Math.round(Number(ttl) / SECONDS_PER_DAY);
}
