import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Table from 'cli-table3';

/** One run of one case: what died when, and what came of it. Times in milliseconds. */
export interface FaultRun {
  victim: string;
  operation: string;
  seed: string;
  round: number;
  /** From the request (or, for a process of the launcher Pod, from when it was there) to the kill. */
  delay: number;
  /** From the kill to the operation's end. */
  recovered?: number;
  /** From the request to the operation's end. */
  total?: number;
  /** Boots of the guest that the observer saw. */
  boots?: number;
  violations: string[];
  outcome: 'ok' | 'failed';
}

const seconds = (ms: number | undefined): string => (ms === undefined ? '-' : `${(ms / 1000).toFixed(1)} s`);

/** The runs as a table on standard error (standard output is for reports of the test runner), and as JSON in artifacts/faults.json. */
export async function reportFaults(runs: readonly FaultRun[]): Promise<void> {
  const table = new Table({
    head: ['victim', 'operation', 'seed, round', 'killed after', 'end after kill', 'in all', 'boots', 'violations', ''],
    style: { head: [], border: [] },
  });
  for (const run of runs)
    table.push([
      ...[
        run.victim,
        run.operation,
        `${run.seed}, ${run.round}`,
        seconds(run.delay),
        seconds(run.recovered),
        seconds(run.total),
      ],
      ...[String(run.boots ?? '-'), String(run.violations.length), run.outcome],
    ]);
  process.stderr.write(`${table.toString()}\n`);
  const directory = join(import.meta.dirname, '../../../artifacts');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'faults.json'), JSON.stringify(runs, null, 2));
}
