import Table from 'cli-table3';
import { TABLE_STYLE } from '../display.ts';
import type { Stage } from './facts.ts';
import type { Diagnosis } from './walk.ts';

/** The sentence first, then the table of stages. */
export function renderDiagnosis({ sentence, stages, evacuation, migration, unasked }: Diagnosis): string {
  const table = new Table({
    head: ['stage', 'state', 'why', 'what to do'],
    style: TABLE_STYLE,
    colWidths: [18, 13, 56, 56],
    wordWrap: true,
  });
  for (const stage of stages) table.push(row(stage));
  if (evacuation) table.push(row(evacuation));
  for (const stage of migration?.stages ?? [])
    table.push(row(stage.stage === 'Prepare' ? naming(migration?.name ?? '', stage) : stage));
  return [sentence, table.toString(), ...unasked.map((text) => `could not be asked: ${text}`)].join('\n');
}

const row = ({ stage, state, by, why, remedy }: Stage): string[] => [
  stage,
  state,
  [by, why].filter((text) => text !== undefined).join(': '),
  remedy ?? '',
];

/** The first stage of a migration says which one it is. */
const naming = (migration: string, stage: Stage): Stage => ({
  ...stage,
  by: [migration, stage.by].filter((text) => text !== undefined).join(': '),
});
