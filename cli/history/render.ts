import Table from 'cli-table3';
import type { StepRecord } from '../../api/contract/operations.ts';
import { TABLE_STYLE } from '../display.ts';
import { numbersInWords, phaseTable, route } from '../migration/words.ts';
import type { Told } from '../temporal/operations.ts';
import { duration } from '../words.ts';
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

/** How an operation is called in a headline. */
const NAMES: Record<string, string> = { migrate: 'migration' };

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

/** One operation: headline, phases of a migration, steps, reason, link. */
export function renderOperation(operation: OperationView, now: string): string {
  const { status, silence } = operation;
  const took = duration(operation.startedAt, operation.endedAt ?? now);
  const name = NAMES[operation.operation] ?? operation.operation;
  const way = route(status?.migration?.source?.node, status?.migration?.target?.node);
  const lines = [
    `${name} ${stateInWords(operation)}${status?.end ? ` (${status.end})` : ''}${way && `, ${way}`}, ${operation.startedAt}, ${took}${untilWhat(operation)}`,
  ];
  if (status?.retryOf) lines.push(`  retries ${status.retryOf}`);
  if (status?.migration) lines.push(...aboutMigration(status.migration, operation.endedAt ?? now));
  if (status) lines.push(stepTable(status.steps, now));
  else lines.push(`  Its steps are not known: ${silence ?? 'its Temporal history has the events'}.`);
  lines.push(...reasons(status));
  lines.push(`  ${operation.link ?? `Temporal workflow ${operation.workflowId}`}`);
  return lines.join('\n');
}

/** A migration tells its end as soon as it is true; what is left to do then is not part of the guest's move. */
function stateInWords({ state, status }: OperationView): string {
  const phase = status?.migration?.phase;
  if (state !== 'running') return state;
  if (phase === 'Succeeded') return 'succeeded, removing the source Pod';
  return phase === 'Failed' ? 'failed, taking back what it had made' : state;
}

const untilWhat = ({ operation, state, endedAt }: OperationView): string =>
  operation === 'migrate' && state === 'succeeded' && endedAt !== undefined ? ' until the source Pod was gone' : '';

function aboutMigration(migration: NonNullable<Told['migration']>, now: string): string[] {
  return [
    `  VirtualMachineInstanceMigration ${migration.migration.name}`,
    phaseTable(migration.phaseTimes, migration.endedAt ?? now),
    ...(migration.numbers ? [`  ${numbersInWords(migration.numbers)}`] : []),
  ];
}

function reasons(status: Told | undefined): string[] {
  const failure = status?.failure ?? status?.migration?.failure;
  const unknown = status?.migration?.outcomeUnknown;
  return [
    ...(failure ? [`  ${failure.type}: ${failure.message}`] : []),
    ...(unknown === undefined ? [] : [`  outcome unknown: ${unknown}`]),
  ];
}

function stepTable(steps: readonly StepRecord[], now: string): string {
  const table = new Table({
    head: ['', 'step', 'where', 'took', 'tries', 'what happened'],
    style: TABLE_STYLE,
    colWidths: [3, 26, 14, 12, 7, WIDEST_REASON],
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
