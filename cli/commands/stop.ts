import type { Command } from 'commander';
import { seconds, waitingCommand, type WaitOptions } from '../options.ts';
import { ask } from '../requests.ts';
import { findVirtualMachine, instanceOf, runStrategyOf } from '../virtual-machine.ts';
import { waitFor } from '../wait.ts';

interface StopOptions extends WaitOptions {
  gracePeriod?: number;
  force?: boolean;
}

/** `virtflow stop`: as virtctl does, Always and Once become Halted, others get a request; a shorter grace period also hastens a shutdown under way. */
export const stopCommand = (): Command =>
  waitingCommand(
    'stop',
    'shut a VM down: one that runs by its strategy is halted, others get a request; the guest has its grace period to shut down',
  )
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
      const gracePeriod = options.force ? 0 : options.gracePeriod;
      const vmi = await instanceOf(target);
      const strategy = runStrategyOf(target.vm);
      const isSooner = gracePeriod !== undefined && gracePeriod < (vmi?.spec.terminationGracePeriodSeconds ?? 30);
      // One that runs by its strategy is halted also between two instances; of one that is halted already only a shorter grace period is news.
      if (strategy === 'Always' || strategy === 'Once' || (vmi !== undefined && (strategy !== 'Halted' || isSooner))) {
        const options = gracePeriod === undefined ? {} : { gracePeriod };
        await ask(target, `stopping ${name}`, { action: 'stop', ...options });
      }
      console.log(vmi ? `${name} will shut down.` : `${name} is already stopped.`);
      if (options.wait)
        await waitFor(
          target,
          'Stopped',
          options.timeout,
          (vm, left) => !left && vm.status?.printableStatus === 'Stopped',
        );
    });
