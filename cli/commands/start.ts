import type { Command } from 'commander';
import { waitingCommand, type WaitOptions } from '../options.ts';
import { findVirtualMachine, runStrategyOf, runStrategyPatch, talking } from '../virtual-machine.ts';
import { isRunning, waitFor } from '../wait.ts';

/** `virtflow start`: sets the run strategy to Always. */
export const startCommand = (): Command =>
  waitingCommand('start', 'start a VM: sets its run strategy to Always').action(
    async (name: string, options: WaitOptions) => {
      const target = await findVirtualMachine(name, options);
      if (runStrategyOf(target.vm) === 'Always') console.log(`${name} is already meant to run (run strategy Always).`);
      else {
        await talking(`starting ${name}`, () =>
          target.kube.mergePatch('VirtualMachine', target.name, runStrategyPatch(target.vm, 'Always')),
        );
        console.log(`${name} will start.`);
      }
      if (options.wait) await waitFor(target, 'Running', options.timeout, (_vm, vmi) => isRunning(vmi));
    },
  );
