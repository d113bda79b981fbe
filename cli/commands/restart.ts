import type { Command } from 'commander';
import { UserError } from '../errors.ts';
import { waitingCommand, type WaitOptions } from '../options.ts';
import { ask } from '../requests.ts';
import { findVirtualMachine, instanceOf, runStrategyOf } from '../virtual-machine.ts';
import { waitFor } from '../wait.ts';

/** `virtflow restart`: queues the requests Stop and Start on the VM, as virtctl does; the VM's workflow carries them out as one operation. */
export const restartCommand = (): Command =>
  waitingCommand('restart', 'shut a running VM down and start it again')
    .addHelpText(
      'after',
      `
Examples:
  virtflow restart web-1           the guest has its grace period to shut down, then it starts again
  virtflow restart web-1 --wait    wait until it runs again`,
    )
    .action(async (name: string, options: WaitOptions) => {
      const target = await findVirtualMachine(name, options);
      const vmi = await instanceOf(target);
      if (runStrategyOf(target.vm) === 'Halted')
        throw new UserError(`${name} is stopped (run strategy Halted): use virtflow start.`);
      if (!vmi?.metadata?.uid)
        throw new UserError(`${name} has no running instance to restart yet; see virtflow status ${name}.`);
      const { uid } = vmi.metadata;
      await ask(target, `restarting ${name}`, { action: 'restart' });
      console.log(`${name} will restart.`);
      if (options.wait)
        await waitFor(
          target,
          'Running again',
          options.timeout,
          (_vm, now) => now?.metadata?.uid !== undefined && now.metadata.uid !== uid && now.status?.phase === 'Running',
        );
    });
