import type { Command } from 'commander';
import { gather } from '../diagnose/gather.ts';
import { renderDiagnosis } from '../diagnose/render.ts';
import { walk } from '../diagnose/walk.ts';
import { outputOption, vmCommand, type Output } from '../options.ts';
import { findGuest } from '../virtual-machine.ts';

/** `virtflow diagnose`: walks the stages of a VM and says where it stands, why, and what to do. */
export const diagnoseCommand = (): Command =>
  vmCommand('diagnose', 'walk the stages of a VM: where it stands, why, and what to do')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  virtflow diagnose web-1            why does it not start, stop or migrate?
  virtflow diagnose web-1 -o json    the same for programs

Stages: object, volumes, launcher Pod, scheduling, command server, libvirt, domain, agent; of a migration: Prepare, Migrate, Finalize.
It asks Kubernetes and Temporal; what cannot be asked is named at the end, and the rest is answered all the same.`,
    )
    .action(async (name: string, options: { namespace: string; output: Output }) => {
      const diagnosis = walk(await gather(await findGuest(name, options)));
      console.log(options.output === 'json' ? JSON.stringify(diagnosis, null, 2) : renderDiagnosis(diagnosis));
    });
