import { setTimeout as pause } from 'node:timers/promises';
import ora from 'ora';
import type { VirtualMachine, VirtualMachineInstance } from '../api/kubevirt/types.ts';
import { UserError } from './errors.ts';
import { instanceOf, type Target } from './virtual-machine.ts';

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
): Promise<void> {
  const spinner = ora({ text: `waiting for ${goal}`, isSilent: !process.stderr.isTTY }).start();
  const until = Date.now() + timeoutSeconds * 1000;
  try {
    for (;;) {
      const vm = await target.kube.get('VirtualMachine', target.name);
      if (!vm) throw new UserError(`VirtualMachine "${target.name.name}" was deleted while waiting.`);
      if (done(vm, await instanceOf(target))) break;
      const status = vm.status?.printableStatus ?? 'no status yet';
      spinner.text = `waiting for ${goal}: ${status}`;
      if (Date.now() > until)
        throw new UserError(
          `"${target.name.name}" is not ${goal} after ${timeoutSeconds} s (status: ${status}). See: virtflow status ${target.name.name} -n ${target.name.namespace}`,
        );
      await pause(POLL_MS);
    }
  } catch (error) {
    spinner.fail();
    throw error;
  }
  spinner.succeed(`${target.name.name} is ${goal}`);
}
