import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { kubectl } from './kubectl.ts';
import { SYSTEM_NAMESPACE, systemPods, untilSystemReady } from './pods.ts';

/** No node has this label: a DaemonSet that asks for it has no Pods. */
const NOWHERE = 'virtflow.io/nowhere';

const placeNodeWorkers = (value: string | null): Promise<string> =>
  kubectl([
    ...['patch', 'daemonset', 'virtflow-node', '-n', SYSTEM_NAMESPACE, '--type=merge', '-p'],
    JSON.stringify({ spec: { template: { spec: { nodeSelector: { [NOWHERE]: value } } } } }),
  ]);

/** Kills the node workers and keeps them from coming back. */
export async function removeNodeWorkers(): Promise<void> {
  const pods = await systemPods('node');
  // All at once: a rollout would take down one after the other.
  await placeNodeWorkers('');
  await Promise.all(pods.map(({ metadata }) => killInPod(metadata?.uid ?? '', /workers\/node\/main\.ts/)));
  await until('no node worker left', async () => (await systemPods('node')).length === 0, {
    timeoutMs: 60_000,
    everyMs: 500,
  });
}

/** Takes `removeNodeWorkers` back; does nothing if the node workers run. */
export async function restoreNodeWorkers(): Promise<void> {
  await placeNodeWorkers(null);
  await untilSystemReady();
}

/** Freezes a node's worker. @returns what lets it go on */
export async function workersFrozen(node: string): Promise<() => Promise<unknown>> {
  const uids = (await systemPods('node', node)).map(({ metadata }) => metadata?.uid ?? '');
  const send = (signal: NodeJS.Signals) =>
    Promise.all(uids.map((uid) => killInPod(uid, /workers\/node\/main\.ts/, signal)));
  await send('SIGSTOP');
  return () => send('SIGCONT');
}
