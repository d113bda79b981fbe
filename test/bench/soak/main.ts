import { Command, Option } from 'commander';
import { insideOwnNetwork } from '../density/network.ts';
import type { Figure } from '../figures.ts';
import { isWithin, renderFigures } from '../figures.ts';
import { soakPlayed } from './played.ts';

/** VMs with real guests: as many as the two nodes of the local cluster run at ease. */
const REAL_VMS = 4;
const PLAYED_VMS = 50;

interface Options {
  vms?: number;
  nodes: number;
  minutes: number;
  real?: boolean;
  output: 'table' | 'json';
}

/** On standard error, so that standard output holds the figures alone. */
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const tell = (figures: readonly Figure[], output: Options['output']): void => {
  console.log(output === 'json' ? JSON.stringify(figures, null, 2) : renderFigures(figures));
  process.exitCode = figures.every(isWithin) ? 0 : 1;
};

await new Command('soak')
  .option('--vms <n>', `how many (${PLAYED_VMS}; ${REAL_VMS} real ones)`, Number)
  .option('--nodes <n>', 'nodes that are played', Number, 10)
  .option('--minutes <n>', 'how long', Number, 15)
  .option('--real', 'real guests on the local cluster, in place of played ones in a control plane of its own')
  .addOption(new Option('-o, --output <format>').choices(['table', 'json']).default('table'))
  .action(async ({ vms, nodes, minutes, real, output }: Options) => {
    if (real === true) {
      // Read only here: it needs the cluster's environment.
      const { soakReal } = await import('./real.ts');
      return tell(await soakReal({ vms: vms ?? REAL_VMS, minutes }, progress), output);
    }
    const code = await insideOwnNetwork(async () =>
      tell(await soakPlayed({ vms: vms ?? PLAYED_VMS, nodes, minutes }, progress), output),
    );
    if (code !== undefined) process.exitCode = code;
  })
  .parseAsync();
process.exit();
