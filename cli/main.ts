#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { Command } from 'commander';
import { cancelCommand } from './commands/cancel.ts';
import { diagnoseCommand } from './commands/diagnose.ts';
import { fenceCommand } from './commands/fence.ts';
import { historyCommand } from './commands/history.ts';
import { migrateCommand } from './commands/migrate.ts';
import { restartCommand } from './commands/restart.ts';
import { retryCommand } from './commands/retry.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { stopCommand } from './commands/stop.ts';
import { temporalCommand } from './commands/temporal.ts';
import { UserError } from './errors.ts';

const program = new Command('virtflow')
  .description('Start, stop, migrate and look into virtual machines that run on Kubernetes as Temporal workflows.')
  .version('0.1.0')
  .showHelpAfterError('(try --help)')
  .addHelpText(
    'after',
    `
Examples:
  virtflow start web-1 --wait          start a VM and wait until it runs
  virtflow stop web-1                  ask the guest to shut down; destroyed when its grace period is over
  virtflow migrate web-1               move a running VM to another node, with a progress bar
  virtflow cancel web-1                cancel that
  virtflow status web-1                where it stands
  virtflow diagnose web-1              why does it not start, stop or migrate, and what to do
  virtflow history web-1               every start, shutdown and migration with its steps, durations, nodes and reasons
  virtflow retry web-1                 end the current wait of an operation, or try the failed one again
  virtflow fence node-b                its machine is off and stays so: its VMs start elsewhere
  virtflow temporal setup              create the Temporal namespace and search attributes

Connections:
  Kubernetes   KUBECONFIG, or ~/.kube/config (like kubectl)
  Temporal     TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_*, TEMPORAL_API_KEY or a profile file (like the temporal CLI)
  Temporal UI  VIRTFLOW_TEMPORAL_UI, for example http://temporal-ui.example.com:8233 (links in history)`,
  );

for (const command of [
  startCommand,
  stopCommand,
  restartCommand,
  migrateCommand,
  cancelCommand,
  statusCommand,
  diagnoseCommand,
  historyCommand,
  retryCommand,
  fenceCommand,
  temporalCommand,
])
  program.addCommand(command());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`virtflow: ${error.message}`);
  process.exitCode = 1;
}
