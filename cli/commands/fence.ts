import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { defaultKubeClient } from '../../activities/kube/client.ts';
import { isTestFailed } from '../../activities/kube/errors.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { Node } from '../../api/kubernetes/types.ts';
import { UserError } from '../errors.ts';
import { fencePatch, fenceQuestion, undoPatch, undoQuestion } from '../fence.ts';
import { talking } from '../virtual-machine.ts';

interface FenceOptions {
  undo: boolean;
  yes: boolean;
}

/** `virtflow fence`: an operator's word that a machine is off. Writes the Node alone, so it works while Temporal is down. */
export const fenceCommand = (): Command =>
  new Command('fence')
    .description(
      'say that the machine of a node is off and stays so: its VMs fail, and start elsewhere by their run strategy',
    )
    .argument('<node>', 'name of the Node')
    .option('--undo', 'take it back, once the node is well again', false)
    .option('-y, --yes', 'do not ask', false)
    .addHelpText(
      'after',
      `
Examples:
  virtflow fence node-b            asks whether the machine is really off
  virtflow fence node-b --yes      for scripts that have switched it off themselves
  virtflow fence --undo node-b     the node is well again and may take VMs

Fence a machine only when it is off, or cut off from its disks and networks: two guests on one disk destroy it. docs/fencing.md has the whole story.`,
    )
    .action(async (name: string, { undo, yes }: FenceOptions) => {
      const kube = defaultKubeClient();
      const node = await talking(`reading Node ${name}`, () => kube.get('Node', { name }));
      if (node === undefined) throw new UserError(`there is no Node "${name}" (kubectl get nodes shows all).`);
      const now = new Date();
      const patch = undo ? undoPatch(node) : fencePatch(node, now);
      if (patch === undefined)
        return console.log(undo ? `${name} is not fenced by an operator.` : `${name} is fenced already.`);
      const guests = await guestsOn(kube, name);
      if (!yes) await confirm(name, undo ? undoQuestion(node) : fenceQuestion(node, guests, now));
      await talking(`changing Node ${name}`, () => write(kube, name, patch));
      console.log(
        undo
          ? `${name} is not fenced any more: its worker takes VMs again within a minute of being well.`
          : `${name} is fenced. Its ${guests.length} VMs fail now, and start elsewhere by their run strategy: kubectl get vm -A`,
      );
    });

/** "namespace/name" of the instances that the node is said to run. */
const guestsOn = (kube: KubePort, node: string): Promise<string[]> =>
  talking(`reading the VMs of ${node}`, async () => {
    const vmis = await kube.list('VirtualMachineInstance', { labelSelector: `kubevirt.io/nodeName=${node}` });
    return vmis
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
      .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`);
  });

/** Somebody who types the name has read it. @throws UserError */
const confirm = async (node: string, question: string): Promise<void> => {
  if (!process.stdin.isTTY) throw new UserError(`${question}\nSay so with --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question}\nType the name of the node to go on: `);
  terminal.close();
  if (answer.trim() !== node) throw new UserError('that is not its name: nothing was changed.');
};

/** The patch tests what was read: a node that has registered again or restarted meanwhile is not what was looked at. */
const write = async (kube: KubePort, name: string, patch: readonly object[]): Promise<Node> => {
  try {
    return await kube.jsonPatch('Node', { name }, patch);
  } catch (error) {
    if (isTestFailed(error))
      throw new UserError(`Node ${name} has just changed (registered again, or restarted): look at it again.`);
    throw error;
  }
};
