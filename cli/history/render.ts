import Table from 'cli-table3';
import type { StepRecord } from '../../api/contract/operations.ts';
import type { OperationView, VmHistory } from './model.ts';

const SIGNS: Record<StepRecord['state'], string> = {
  running: '…',
  waiting: '⏳',
  done: '✓',
  failed: '✗',
  undone: '↩',
  cancelled: '⊘',
};

/** Columns of the reason's cell; longer ones are wrapped. */
const WIDEST_REASON = 70;

/** Time between two RFC 3339 times, for people: "0.4 s", "12 s", "3 min 5 s". */
export function duration(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const total = Math.round(ms / 1000);
  return total < 60 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}

/** The history of a VM as text: one table per operation, oldest first. */
export function renderHistory(history: VmHistory, now: string): string {
  const horizon =
    history.horizonDays === undefined ? '' : ` (closed operations are kept for ${history.horizonDays} days)`;
  if (history.operations.length === 0)
    return `No operation of ${history.namespace}/${history.name} is known to Temporal${horizon}.`;
  return [
    ...history.operations.map((operation) => renderOperation(operation, now)),
    `${history.operations.length} operation${history.operations.length === 1 ? '' : 's'}${horizon}`,
  ].join('\n\n');
}

/** One operation: headline, steps, reason, link. */
export function renderOperation(operation: OperationView, now: string): string {
  const { status } = operation;
  const took = duration(operation.startedAt, operation.endedAt ?? now);
  const headline = `${operation.operation} ${operation.state}${status?.end ? ` (${status.end})` : ''}, ${operation.startedAt}, ${took}`;
  const lines = [headline];
  if (status?.retryOf) lines.push(`  retries ${status.retryOf}`);
  if (status) lines.push(stepTable(status.steps, now));
  else lines.push('  It ended without telling its steps; its Temporal history has the events.');
  if (status?.failure) lines.push(`  ${status.failure.type}: ${status.failure.message}`);
  lines.push(`  ${operation.link ?? `Temporal workflow ${operation.workflowId}`}`);
  return lines.join('\n');
}

function stepTable(steps: readonly StepRecord[], now: string): string {
  const table = new Table({
    head: ['', 'step', 'where', 'took', 'tries', 'what happened'],
    style: { head: [], border: [] },
    colWidths: [3, 22, 14, 12, 7, WIDEST_REASON],
    wordWrap: true,
  });
  for (const step of steps)
    table.push([
      SIGNS[step.state],
      step.name,
      step.node ?? 'controller',
      duration(step.startedAt, step.endedAt ?? now),
      String(step.attempts),
      whatHappened(step),
    ]);
  return table.toString();
}

function whatHappened(step: StepRecord): string {
  const reason = step.failure ? `${step.failure.type}: ${step.failure.message}` : (step.note ?? '');
  return step.state === 'waiting' && step.nextTryAt ? `${reason} (next try ${step.nextTryAt})` : reason;
}
