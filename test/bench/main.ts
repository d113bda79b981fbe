import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { ensureNamespace } from '../e2e/support/namespaces.ts';
import { untilSystemReady } from '../e2e/support/pods.ts';
import { NAMESPACE } from '../e2e/support/vms.ts';
import type { Figure } from './figures.ts';
import { isWithin, renderFigures } from './figures.ts';
import { benchAdmission } from './admission.ts';
import { benchIdle } from './idle.ts';
import { benchMemory } from './memory.ts';
import { benchMigration } from './migration.ts';
import { benchStart } from './start.ts';

/** Defaults as the project states its figures: 15 pairs of migrations, 5 minutes of idleness, 20 starts and migrations for the memory. */
const parts = {
  start: (rounds) => benchStart(rounds ?? 7, progress),
  migration: (rounds) => benchMigration(rounds ?? 15, progress),
  idle: () => benchIdle(300, progress),
  admission: () => benchAdmission(30, progress),
  memory: (rounds) => benchMemory(rounds ?? 20, progress),
} satisfies Record<string, (rounds?: number) => Promise<Figure[]>>;
type Part = keyof typeof parts;
const names = Object.keys(parts) as Part[];

/** On standard error, so that standard output holds the figures alone. */
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const program = new Command('bench')
  .addArgument(new Argument('[parts...]', 'only these').choices(names))
  .option('--rounds <n>', 'how often each is taken', Number)
  .addOption(new Option('-o, --output <format>').choices(['table', 'json']).default('table'))
  .action(async (chosen: Part[], { rounds, output }: { rounds?: number; output: string }) => {
    await ensureNamespace(NAMESPACE);
    await untilSystemReady();
    const figures: Figure[] = [];
    for (const name of names.filter((part) => chosen.length === 0 || chosen.includes(part)))
      figures.push(...(await parts[name](rounds)));
    const artifacts = join(import.meta.dirname, '../../artifacts');
    await mkdir(artifacts, { recursive: true });
    await writeFile(join(artifacts, 'bench.json'), JSON.stringify(figures, null, 2));
    if (output === 'json') console.log(JSON.stringify(figures, null, 2));
    else console.log(`${renderFigures(figures)}\nLoad of the machine at the end: ${loadavg()[0]?.toFixed(1)}`);
    process.exitCode = figures.every(isWithin) ? 0 : 1;
  });

await program.parseAsync();
