import type { Command } from 'commander';
import { seconds, waitingCommand, type WaitOptions } from '../options.ts';
import { findVirtualMachine, instanceOf, runStrategyOf, runStrategyPatch, talking } from '../virtual-machine.ts';
import { waitFor } from '../wait.ts';

interface StopOptions extends WaitOptions {
  gracePeriod?: number;
  force?: boolean;
}

/** `virtflow stop`: sets the run strategy to Halted; a shorter grace period also hastens a shutdown under way. */
export const stopCommand = (): Command =>
  waitingCommand('stop', 'shut a VM down: sets its run strategy to Halted; the guest has its grace period to shut down')
    .option(
      '--grace-period <seconds>',
      'destroy the guest after this many seconds instead of its own grace period',
      seconds,
    )
    .option('--force', 'destroy the guest at once (same as --grace-period 0)')
    .addHelpText(
      'after',
      `
Examples:
  virtflow stop web-1 --wait               the guest shuts down; wait until it is stopped
  virtflow stop web-1 --grace-period 10    destroy the guest if it is not down after 10 seconds
  virtflow stop web-1 --force              destroy the guest at once, like pulling the plug`,
    )
    .action(async (name: string, options: StopOptions) => {
      const target = await findVirtualMachine(name, options);
      const grace = options.force ? 0 : options.gracePeriod;
      const vmi = await instanceOf(target);
      if (grace !== undefined && vmi)
        await talking(`setting the grace period of ${name}`, () =>
          target.kube.mergePatch('VirtualMachineInstance', target.name, {
            spec: { terminationGracePeriodSeconds: grace },
          }),
        );
      if (runStrategyOf(target.vm) !== 'Halted')
        await talking(`stopping ${name}`, () =>
          target.kube.mergePatch('VirtualMachine', target.name, runStrategyPatch(target.vm, 'Halted')),
        );
      console.log(vmi ? `${name} will shut down.` : `${name} is already stopped.`);
      if (options.wait)
        await waitFor(
          target,
          'Stopped',
          options.timeout,
          (vm, left) => !left && vm.status?.printableStatus === 'Stopped',
        );
    });
