import Table from 'cli-table3';
import type { Stage } from './facts.ts';
import type { Diagnosis } from './walk.ts';

/** The sentence first, then the table of stages. */
export function renderDiagnosis({ sentence, stages, migration, unasked }: Diagnosis): string {
  const table = new Table({
    head: ['stage', 'state', 'why', 'what to do'],
    style: { head: [], border: [] },
    colWidths: [18, 13, 56, 56],
    wordWrap: true,
  });
  for (const stage of [...stages, ...(migration?.stages ?? [])]) table.push(row(stage));
  return [sentence, table.toString(), ...unasked.map((text) => `could not be asked: ${text}`)].join('\n');
}

const row = ({ stage, state, why, remedy }: Stage): string[] => [stage, state, why, remedy ?? ''];
