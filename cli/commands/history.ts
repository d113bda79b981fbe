import { InvalidArgumentError, Option, type Command } from 'commander';
import { collectHistory } from '../history/collect.ts';
import { renderHistory } from '../history/render.ts';
import { vmCommand } from '../options.ts';
import { withTemporal } from '../temporal/connection.ts';

/** `virtflow history`: the operations of a VM with their steps. Works for VMs that are gone, as far as Temporal's retention reaches. */
export const historyCommand = (): Command =>
  vmCommand('history', 'operations of a VM: steps, durations, node, reason and the link into the Temporal UI')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'))
    .option('--limit <count>', 'show at most this many operations, the newest', count, 20)
    .action(async (name: string, options: { namespace: string; output: 'table' | 'json'; limit: number }) => {
      const history = await withTemporal((temporal) =>
        collectHistory(
          temporal,
          { namespace: options.namespace, name },
          options.limit,
          process.env['VIRTFLOW_TEMPORAL_UI'],
        ),
      );
      console.log(
        options.output === 'json' ? JSON.stringify(history, null, 2) : renderHistory(history, new Date().toISOString()),
      );
    });

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('A whole number, 1 or more.');
  return value;
}
