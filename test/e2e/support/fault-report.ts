import { mkdir, readFile, writeFile } from 'node:fs/promises';
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
  /** Of a migration: how it ended. */
  end?: string;
  /** Of a migration: from the fault until it was over or said that nobody knows. */
  told?: number;
}

const seconds = (ms: number | undefined): string => (ms === undefined ? '-' : `${(ms / 1000).toFixed(1)} s`);

const DIRECTORY = join(import.meta.dirname, '../../../artifacts');

/**
 * The runs of a suite as a table on standard error (standard output is for reports of the test runner), and as JSON in artifacts/faults.json, beside
 * those of other suites.
 */
export const reportFaults = (suite: string, runs: readonly FaultRun[]): Promise<void> =>
  report(runs, suite, 'faults.json');

/** The same for runs with migrations: in artifacts/migration-faults.json. */
export const reportMigrationFaults = (suite: string, runs: readonly FaultRun[]): Promise<void> =>
  report(runs, suite, 'migration-faults.json');

async function report(runs: readonly FaultRun[], suite: string, file: string): Promise<void> {
  const table = new Table({
    head: ['victim', 'operation', 'seed, round', 'hit after', 'told', 'end after', 'in all', 'boots', 'violations', ''],
    style: { head: [], border: [] },
  });
  for (const run of runs)
    table.push([
      run.victim,
      run.end === undefined ? run.operation : `${run.operation}: ${run.end}`,
      `${run.seed}, ${run.round}`,
      ...[run.delay, run.told, run.recovered, run.total].map(seconds),
      ...[String(run.boots ?? '-'), String(run.violations.length), run.outcome],
    ]);
  process.stderr.write(`${table.toString()}\n`);
  await mkdir(DIRECTORY, { recursive: true });
  const others = await readFile(join(DIRECTORY, file), 'utf8').catch(() => '{}');
  const content = { ...(JSON.parse(others) as object), [suite]: runs };
  await writeFile(join(DIRECTORY, file), JSON.stringify(content, null, 2));
}
