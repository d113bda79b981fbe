import type { Command } from 'commander';
import type { KubePort } from '../../activities/kube/port.ts';
import { openDisplay } from '../display.ts';
import { UserError } from '../errors.ts';
import { nothingToCancel, switchedOver, whatBecame } from '../migration/cancelled.ts';
import { follow } from '../migration/follow.ts';
import { isOver, migrationsOf, phaseOf, refOf, type Migration } from '../migration/objects.ts';
import { summarize } from '../migration/summary.ts';
import { watchMigration } from '../migration/watch.ts';
import { seconds, vmCommand } from '../options.ts';
import { findGuest, talking, type Guest } from '../virtual-machine.ts';
import { command } from '../words.ts';

interface CancelOptions {
  namespace: string;
  timeout: number;
}

/** `virtflow cancel`: deletes the unfinished migration of a VM, which is how KubeVirt's API cancels, and tells what became of it. */
export const cancelCommand = (): Command =>
  vmCommand('cancel', 'cancel the migration of a VM; the guest stays where it is')
    .option('--timeout <seconds>', 'stop waiting for the end after this many seconds', seconds, 60)
    .addHelpText(
      'after',
      `
Examples:
  virtflow cancel web-1          end the migration under way; waits until it is over and says where the guest runs
  kubectl delete vmim NAME       does the same to one migration, without waiting

A migration can be cancelled until the guest is switched over to the other node. From then on it runs there: to bring it back, migrate again.`,
    )
    .action(async (name: string, options: CancelOptions) => {
      const guest = await findGuest(name, options);
      const all = await talking(`reading migrations of ${name}`, () => migrationsOf(guest.kube, guest.name));
      const open = all.filter((migration) => !isOver(migration));
      if (open.length === 0) throw new UserError(nothingToCancel(guest.name, all.at(-1)));
      for (const migration of open) await cancel(guest, migration, options);
    });

async function cancel(guest: Guest, migration: Migration, options: CancelOptions): Promise<void> {
  const { kube, name } = guest;
  const ref = refOf(migration);
  const watch = watchMigration(ref);
  try {
    if (switchedOver(migration, guest.vmi))
      throw new UserError(
        `too late to cancel ${ref.name}: the guest has been switched over to ${guest.vmi?.status?.migrationState?.targetNode ?? 'the other node'} already. To bring it back: ${command('migrate', name)}`,
      );
    await remove(kube, migration);
    const display = openDisplay();
    const followed = await follow(kube, migration, watch, display, { until: Date.now() + options.timeout * 1000 });
    const vmi = await talking(`reading ${name.name}`, () => kube.get('VirtualMachineInstance', name));
    const told = followed.late ? watch.heard().status : await watch.lastWord();
    const ended = { ...followed, ...(vmi && { vmi }), ...(told && { told }) };
    const became = whatBecame(summarize(ended, new Date().toISOString()), vmi, name);
    if (followed.late || !became.cancelled) {
      display.fail(`${ref.name} was not cancelled`);
      throw new UserError(followed.late ? stillGoing(ref.name, options.timeout, guest) : became.text);
    }
    display.succeed(became.text);
  } finally {
    await watch.close();
  }
}

const stillGoing = (migration: string, timeout: number, { name }: Guest): string =>
  `${migration} is not over after ${timeout} s: it has been asked to end, and does so as soon as it is safe. See: ${command('diagnose', name)}`;

const remove = (kube: KubePort, migration: Migration): Promise<unknown> => {
  const { namespace, name, uid } = refOf(migration);
  return talking(`cancelling VirtualMachineInstanceMigration ${namespace}/${name} (${phaseOf(migration)})`, () =>
    kube.remove('VirtualMachineInstanceMigration', { namespace, name }, { uid }),
  );
};
