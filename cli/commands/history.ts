import { InvalidArgumentError, type Command } from 'commander';
import { UserError } from '../errors.ts';
import { collectHistory } from '../history/collect.ts';
import type { VmHistory } from '../history/model.ts';
import { renderHistory } from '../history/render.ts';
import { outputOption, vmCommand, type Output } from '../options.ts';
import { withTemporal } from '../temporal/connection.ts';
import { exists } from '../virtual-machine.ts';

/** `virtflow history`: the operations of a VM with their steps. Works for VMs that are gone, as far as Temporal's retention reaches. */
export const historyCommand = (): Command =>
  vmCommand('history', 'operations of a VM: phases, steps, durations, nodes, reason and the link into the Temporal UI')
    .addOption(outputOption())
    .option('--limit <count>', 'show at most this many operations, the newest', count, 20)
    .addHelpText(
      'after',
      `
Examples:
  virtflow history web-1             every start, shutdown and migration, oldest first
  virtflow history web-1 --limit 1   the newest one
  virtflow history web-1 -o json     the same for programs

A migration shows its phases, its steps, what it transferred and how long the guest stood still. Operations of a VM that is gone can be seen
as long as Temporal keeps them; the last line says how long that is.`,
    )
    .action(async (name: string, options: { namespace: string; output: Output; limit: number }) => {
      const vm = { namespace: options.namespace, name };
      const history = await withTemporal((temporal) =>
        collectHistory(temporal, vm, options.limit, process.env['VIRTFLOW_TEMPORAL_UI']),
      );
      if (history.operations.length === 0 && !(await exists(vm))) throw new UserError(unknown(history));
      console.log(
        options.output === 'json' ? JSON.stringify(history, null, 2) : renderHistory(history, new Date().toISOString()),
      );
    });

const unknown = ({ namespace, name, horizonDays }: VmHistory): string =>
  `there is no VirtualMachine or VirtualMachineInstance "${name}" in namespace "${namespace}", and Temporal knows no operation of one${
    horizonDays === undefined ? '' : ` in the last ${horizonDays} days`
  } (kubectl get vm,vmi -A shows all).`;

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('A whole number, 1 or more.');
  return value;
}
