import type { OperationStatus, StepRecord } from '../../api/contract/operations.ts';
import type { MigrationReport } from '../../api/contract/migrations.ts';
import type { MigrationNumbers } from '../../api/launcher/migration.ts';
import { msUntil } from '../shared/time.ts';

const SIGNS: Record<StepRecord['state'], string> = {
  running: '▶ running',
  waiting: '⏳ waiting',
  done: '✓ done',
  failed: '✗ failed',
  undone: '↩ undone',
  cancelled: '∅ cancelled',
};

/** The operation as a run book, Markdown, for the details pane of the Temporal UI. */
export const stepTable = ({
  kind,
  vmi,
  attempt,
  phase,
  deadline,
  steps,
  failure,
  migration,
}: OperationStatus): string =>
  [
    `**${kind}** of ${vmi.namespace}/${vmi.name}, attempt ${attempt}: **${phase}**`,
    ...(migration === undefined ? [] : route(migration)),
    ...(deadline === undefined ? [] : [`Destroyed at ${deadline} at the latest.`]),
    ...(failure === undefined ? [] : [`**${failure.type}**: ${failure.message}`]),
    '',
    '| step | where | state | rounds | took | |',
    '|---|---|---|---|---|---|',
    ...steps.map(row),
  ].join('\n');

const route = ({ source, target, numbers, outcomeUnknown }: MigrationReport): string[] => [
  `From node ${source?.node ?? '?'} to node ${target?.node ?? '?'}.`,
  ...(numbers === undefined ? [] : [progress(numbers)]),
  ...(outcomeUnknown === undefined ? [] : [`**Nobody can say who has the guest**: ${outcomeUnknown}`]),
];

const progress = ({
  mode,
  processedBytes,
  totalBytes,
  iterations,
  downtimeMs,
  elapsedMs,
}: MigrationNumbers): string => {
  const mib = (bytes: number): string => `${Math.round(bytes / (1 << 20))} MiB`;
  const downtime = downtimeMs === undefined ? '' : `, guest stopped for ${downtimeMs} ms`;
  return `${mode}: ${mib(processedBytes)} of ${mib(totalBytes)} in ${iterations} passes, ${(elapsedMs / 1000).toFixed(1)} s${downtime}.`;
};

const row = ({ name, node, state, attempts, startedAt, endedAt, note, failure, nextTryAt }: StepRecord): string => {
  const took = endedAt === undefined ? '' : `${(msUntil(endedAt, startedAt) / 1000).toFixed(1)} s`;
  const reason = failure === undefined ? undefined : `${failure.type}: ${failure.message}`;
  const next = nextTryAt === undefined ? undefined : `next try ${nextTryAt}`;
  const remarks = [note, reason, next].filter((text) => text !== undefined).join('; ');
  return `| ${[name, node ?? 'controller', SIGNS[state], attempts, took, cell(remarks)].join(' | ')} |`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
