import { Argument, Command } from 'commander';
import { runSections, sections } from './commands/test.ts';
import type { Section } from './commands/test.ts';
import { summary } from './commands/test-counts.ts';
import { createContext } from './context.ts';

const program = new Command('dev').description('virtflow on this machine: a two-node Kubernetes, Temporal, the tests');

program
  .command('test')
  .description('set up what is missing and run the tests; ends with `N passed, N failed`')
  .addArgument(new Argument('[sections...]', 'only these sections').choices(sections))
  .action(async (chosen: Section[]) => {
    const counts = await runSections(createContext(), chosen.length > 0 ? chosen : ['unit'], process.env);
    console.log(`\n${summary(counts)}`);
    process.exitCode = counts.failed > 0 ? 1 : 0;
  });

await program.parseAsync();
