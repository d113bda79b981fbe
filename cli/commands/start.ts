import type { Command } from 'commander';
import { waitingCommand, type WaitOptions } from '../options.ts';
import { findVirtualMachine, runStrategyOf, runStrategyPatch, talking } from '../virtual-machine.ts';
import { isRunning, waitFor } from '../wait.ts';

/** `virtflow start`: sets the run strategy to Always. */
export const startCommand = (): Command =>
  waitingCommand('start', 'start a VM: sets its run strategy to Always')
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
        await talking(`starting ${name}`, () =>
          target.kube.mergePatch('VirtualMachine', target.name, runStrategyPatch(target.vm, 'Always')),
        );
        console.log(`${name} will start.`);
      }
      if (options.wait) await waitFor(target, 'Running', options.timeout, (_vm, vmi) => isRunning(vmi));
    });
