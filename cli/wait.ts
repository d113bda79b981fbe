import { setTimeout as pause } from 'node:timers/promises';
import type { VirtualMachine, VirtualMachineInstance } from '../api/kubevirt/types.ts';
import { openDisplay, type Display } from './display.ts';
import { UserError } from './errors.ts';
import { instanceOf, talking, type Target } from './virtual-machine.ts';
import { command } from './words.ts';

const POLL_MS = 500;

/** The instance runs and is not on its way down. */
export const isRunning = (vmi: VirtualMachineInstance | undefined): boolean =>
  vmi?.status?.phase === 'Running' && vmi.metadata?.deletionTimestamp === undefined;

/** Waits until `done` holds for the VM and its VMI, showing the VM's status while it does. @throws UserError after `timeoutSeconds` */
export async function waitFor(
  target: Target,
  goal: string,
  timeoutSeconds: number,
  done: (vm: VirtualMachine, vmi: VirtualMachineInstance | undefined) => boolean,
  display: Display = openDisplay(),
): Promise<void> {
  const { name } = target.name;
  display.show({ headline: `waiting for ${name} to be ${goal}` });
  const until = Date.now() + timeoutSeconds * 1000;
  try {
    for (;;) {
      const vm = await talking(`reading ${name}`, () => target.kube.get('VirtualMachine', target.name));
      if (!vm) throw new UserError(`VirtualMachine "${name}" was deleted while waiting.`);
      if (done(vm, await instanceOf(target))) break;
      const status = vm.status?.printableStatus ?? 'no status yet';
      display.show({ headline: `waiting for ${name} to be ${goal}: ${status}` });
      if (Date.now() > until)
        throw new UserError(
          `"${name}" is not ${goal} after ${timeoutSeconds} s (status: ${status}). See: ${command('diagnose', target.name)}`,
        );
      await pause(POLL_MS);
    }
  } catch (error) {
    display.fail(`${name} is not ${goal}`);
    throw error;
  }
  display.succeed(`${name} is ${goal}`);
}
