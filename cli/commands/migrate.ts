import { InvalidArgumentError, Option, type Command } from 'commander';
import { openDisplay } from '../display.ts';
import { UserError } from '../errors.ts';
import { whyNotMigrate } from '../migration/admissible.ts';
import { destination, nodeSelector } from '../migration/destination.ts';
import { follow } from '../migration/follow.ts';
import { migrationsOf, newMigration, refOf, type Migration } from '../migration/objects.ts';
import { sentence } from '../migration/sentence.ts';
import { renderSummary, summarize } from '../migration/summary.ts';
import { watchMigration } from '../migration/watch.ts';
import { atLeastOneSecond, outputOption, vmCommand, type Output } from '../options.ts';
import { findGuest, talking, type Guest } from '../virtual-machine.ts';
import { command } from '../words.ts';

interface MigrateOptions {
  namespace: string;
  targetNode?: string;
  nodeSelector?: Record<string, string>;
  wait: boolean;
  timeout?: number;
  output: Output;
}

/** `virtflow migrate`: creates a VirtualMachineInstanceMigration, as virtctl does, and follows it. Works while Temporal is down, then without details. */
export const migrateCommand = (): Command =>
  vmCommand('migrate', 'move a running VM to another node; waits until it is over, with progress')
    .option('--target-node <node>', 'the node to move to; without it Kubernetes chooses one')
    .option('--node-selector <key=value>', 'only to nodes with this label; may be repeated', nodeSelector)
    .addOption(new Option('--wait [true|false]', 'wait until it is over').argParser(trueOrFalse).default(true))
    .option(
      '--timeout <seconds>',
      'stop waiting after this many seconds (without it: no limit); the migration goes on',
      atLeastOneSecond,
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  virtflow migrate web-1                            move it, wherever there is room
  virtflow migrate web-1 --target-node node-b       move it to this node
  virtflow migrate web-1 --node-selector zone=east  move it to a node with this label
  virtflow migrate web-1 --wait=false               only ask; virtflow history web-1 shows what became of it

The guest runs on while its memory is copied; at the end it stands still for a fraction of a second. Ctrl-C ends the waiting, not the
migration: virtflow cancel web-1 does that. If it fails, the guest runs on where it was, and the exit code is not 0.`,
    )
    .action(async (name: string, options: MigrateOptions) => {
      const guest = await findGuest(name, options);
      const migration = await ask(guest, options);
      const ref = refOf(migration);
      console.error(`VirtualMachineInstanceMigration ${ref.namespace}/${ref.name} created.`);
      if (options.wait) await followToTheEnd(guest, migration, options);
      else if (options.output === 'json') console.log(JSON.stringify(ref, null, 2));
      else console.log(`${name} will be migrated. See: ${command('history', guest.name)}`);
    });

/** Creates the object, unless it is clear that it would be refused. @throws UserError */
async function ask(guest: Guest, options: MigrateOptions): Promise<Migration> {
  const { kube, name, vmi } = guest;
  return talking(`migrating ${name.namespace}/${name.name}`, async () => {
    const why = whyNotMigrate(guest, await migrationsOf(kube, name));
    if (why !== undefined) throw new UserError(why);
    const selector = await destination(kube, options, vmi?.status?.nodeName);
    return kube.create('VirtualMachineInstanceMigration', newMigration(name, { nodeSelector: selector }));
  });
}

async function followToTheEnd({ kube, name }: Guest, migration: Migration, options: MigrateOptions): Promise<void> {
  const stopTelling = onInterrupt(
    `\nThe migration goes on. See: ${command('history', name)}; end it: ${command('cancel', name)}`,
  );
  const display = openDisplay();
  const watch = watchMigration(refOf(migration));
  try {
    const until = options.timeout === undefined ? Infinity : Date.now() + options.timeout * 1000;
    const followed = await follow(kube, migration, watch, display, { until });
    const [vmi, told] = await Promise.all([
      talking(`reading ${name.name}`, () => kube.get('VirtualMachineInstance', name)),
      followed.late ? watch.heard().status : watch.lastWord(),
    ]);
    const summary = summarize({ ...followed, ...(vmi && { vmi }), ...(told && { told }) }, new Date().toISOString());
    if (summary.outcome === 'succeeded') display.succeed(`${name.name} runs on ${summary.target ?? 'another node'}`);
    else display.fail(`${name.name}: migration ${summary.outcome}`);
    if (options.output === 'json') console.log(JSON.stringify(summary, null, 2));
    else if (summary.phases.length > 0) console.log(renderSummary(summary));
    const bad = sentence(summary, name, options.timeout);
    if (bad !== undefined) throw new UserError(bad);
  } finally {
    stopTelling();
    await watch.close();
  }
}

/** Says something when a person presses Ctrl-C, and ends. The returned function takes that back. */
function onInterrupt(text: string): () => void {
  const tell = (): void => {
    console.error(text);
    process.exit(130);
  };
  process.once('SIGINT', tell);
  return () => void process.removeListener('SIGINT', tell);
}

/** Value of `--wait`; commander gives `true` when none is written. */
function trueOrFalse(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Write --wait=true or --wait=false.');
}
