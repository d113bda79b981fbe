import type { Command } from 'commander';
import { waitingCommand, type WaitOptions } from '../options.ts';
import { ask } from '../requests.ts';
import { findVirtualMachine, runStrategyOf } from '../virtual-machine.ts';
import { isRunning, waitFor } from '../wait.ts';

/** `virtflow start`: as virtctl does, Halted becomes Always, and under Manual and RerunOnFailure a start is asked for. */
export const startCommand = (): Command =>
  waitingCommand('start', 'start a VM: a halted one gets run strategy Always, others a request to start')
    .addHelpText(
      'after',
      `
Examples:
  virtflow start web-1                           ask for it; virtflow status web-1 shows how far it is
  virtflow start web-1 --wait                    wait until it runs
  virtflow start web-1 -n team-a --wait --timeout 900`,
    )
    .action(async (name: string, options: WaitOptions) => {
      const target = await findVirtualMachine(name, options);
      if (runStrategyOf(target.vm) === 'Always') console.log(`${name} is already meant to run (run strategy Always).`);
      else {
        await ask(target, `starting ${name}`, { action: 'start' });
        console.log(`${name} will start.`);
      }
      if (options.wait) await waitFor(target, 'Running', options.timeout, (_vm, vmi) => isRunning(vmi));
    });
