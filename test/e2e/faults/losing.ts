import type { Node, Pod } from '../../../api/kubernetes/types.ts';
import { NODE_UNRESPONSIVE } from '../../../api/contract/nodes.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { getObject, kubectl, listObjects, virtflow } from '../support/kubectl.ts';
import { reconnect } from '../support/link.ts';
import { startKubelet, stopKubelet } from '../support/local-cluster.ts';
import { systemPods, untilSystemReady } from '../support/pods.ts';
import { condition, getVm, getVmi, NAMESPACE, untilObject } from '../support/vms.ts';
import { PROCESSES } from './victims.ts';

const HEARTBEAT = 'kubevirt.io/heartbeat';

export const getNode = (name: string): Promise<Node | undefined> => getObject<Node>('node', name, 'default');

export const untilSchedulable = (name: string, value: string): Promise<Node> =>
  untilObject(
    `node ${name} has kubevirt.io/schedulable=${value}`,
    () => getNode(name),
    ({ metadata }) => metadata?.labels?.['kubevirt.io/schedulable'] === value,
    120_000,
  );

type Conditioned = NonNullable<Parameters<typeof condition>[0]>;
export const isUnresponsive = (object: Conditioned | undefined): boolean =>
  condition(object, NODE_UNRESPONSIVE)?.status === 'True';

/** Waits until VMI and VM say that their node is silent, or do not any more. */
export async function untilSaid(vm: string, silent: boolean): Promise<void> {
  for (const [kind, read] of [
    ['VMI', () => getVmi(vm)],
    ['VM', () => getVm(vm)],
  ] as const)
    await untilObject<Conditioned>(
      `${kind} ${vm} ${silent ? 'with' : 'without'} condition ${NODE_UNRESPONSIVE}`,
      read,
      (object) => isUnresponsive(object) === silent,
      60_000,
    );
}

/** Keeps new Pods off the node of the only controller: without that nothing can be admitted. @returns what takes it back */
export async function keepOffController(): Promise<() => Promise<unknown>> {
  const controllers = (await systemPods('controller')).filter(({ metadata }) => !metadata?.deletionTimestamp);
  const [only, ...more] = new Set(controllers.map(({ spec }) => spec?.nodeName ?? ''));
  if (only === undefined || more.length > 0) return () => Promise.resolve();
  await kubectl(['cordon', only]);
  return () => kubectl(['uncordon', only]);
}

/** A node has not been heard of for ten minutes, as it looks. */
export const ageHeartbeat = (node: string): Promise<string> => {
  const tenMinutesAgo = new Date(Date.now() - 600_000).toISOString().slice(0, 19) + 'Z';
  return kubectl(['annotate', 'node', node, '--overwrite', `${HEARTBEAT}=${tenMinutesAgo}`]);
};

/** Kubelet and worker of a node end; what runs in its launcher Pods does not. */
export async function silence(node: string): Promise<void> {
  await stopKubelet(node);
  const workers = await systemPods('node', node);
  await Promise.all(workers.map(({ metadata }) => killInPod(metadata?.uid ?? '', PROCESSES.nodeWorker)));
}

/** Freezes what runs for a VM on a node, like a machine whose power is gone: what is in it comes back with it. @returns what lets it go on */
export async function freeze(vm: string, node: string): Promise<() => Promise<unknown>> {
  const pods = await listObjects<Pod>('pod', NAMESPACE, `vm.kubevirt.io/name=${vm}`);
  const uids = pods.filter(({ spec }) => spec?.nodeName === node).map(({ metadata }) => metadata?.uid ?? '');
  const send = (signal: NodeJS.Signals) => Promise.all(uids.map((uid) => killInPod(uid, /./, signal)));
  await send('SIGSTOP');
  return () => send('SIGCONT');
}

/** The node is well again, whatever was done to it. */
export async function restore(node: string, goOn: () => Promise<unknown>): Promise<void> {
  await reconnect(node);
  await startKubelet(node);
  await goOn();
  await virtflow(['fence', '--undo', '--yes', node]);
  await untilSystemReady();
  await untilSchedulable(node, 'true');
}
