import type { WorkflowExecutionInfo } from '@temporalio/client';
import { WORKFLOWS, type OperationKind } from '../../api/contract/operations.ts';
import type { TemporalTarget } from '../temporal/connection.ts';
import { readOperation } from '../temporal/operations.ts';
import type { OperationView, VmHistory } from './model.ts';

const KINDS: Record<string, OperationKind> = {
  [WORKFLOWS.startInstance]: 'start',
  [WORKFLOWS.shutdownInstance]: 'shutdown',
  [WORKFLOWS.migrateInstance]: 'migrate',
};

const SECONDS_PER_DAY = 86_400;

/** Visibility query for the operations of a VM. Quotes cannot occur in Kubernetes names. */
export const operationsQuery = (namespace: string, name: string): string =>
  `VmNamespace = "${namespace}" AND VmName = "${name}" AND WorkflowType IN (${Object.keys(KINDS)
    .map((type) => `"${type}"`)
    .join(', ')})`;

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
  const operations = await Promise.all(found.map((execution) => view(temporal, execution, uiAddress)));
  operations.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  const horizonDays = await retentionDays(temporal);
  return { ...vm, ...(horizonDays !== undefined && { horizonDays }), operations };
}

async function view(
  temporal: TemporalTarget,
  execution: WorkflowExecutionInfo,
  uiAddress: string | undefined,
): Promise<OperationView> {
  return {
    workflowId: execution.workflowId,
    runId: execution.runId,
    operation: KINDS[execution.type] ?? execution.type,
    startedAt: execution.startTime.toISOString(),
    ...(execution.closeTime && { endedAt: execution.closeTime.toISOString() }),
    ...(await readOperation(temporal.client, execution)),
    ...(uiAddress && { link: uiLink(uiAddress, temporal.namespace, execution.workflowId, execution.runId) }),
  };
}

/** Page of a workflow run in the Temporal UI. */
export const uiLink = (ui: string, namespace: string, workflowId: string, runId: string): string =>
  `${ui.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/${runId}/history`;

async function retentionDays(temporal: TemporalTarget): Promise<number | undefined> {
  const { config } = await temporal.connection.workflowService.describeNamespace({ namespace: temporal.namespace });
  const ttl = config?.workflowExecutionRetentionTtl?.seconds;
  return ttl == null ? undefined : Math.round(Number(ttl) / SECONDS_PER_DAY);
}
