import type { Lease, Pod } from '../../../api/kubernetes/types.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import { tokenOf } from '../../../activities/facts/token.ts';
import { until } from '../../support/until.ts';
import { getObject, kubectl, listObjects } from './kubectl.ts';
import { podMounts } from './local-cluster.ts';
import { qemuProcesses } from './processes.ts';
import { NAMESPACE } from './vms.ts';

/** What there is of a VM: its launcher Pods, who may run its guest, and its guests. */
export async function tracesOf(name: string) {
  const pods = await listObjects<Pod>('pod', NAMESPACE, `vm.kubevirt.io/name=${name}`);
  const lease = await getObject<Lease>('lease', tokenName({ name }), NAMESPACE);
  const token = lease && tokenOf(lease);
  return { pods, token, holder: token?.holder, processes: await qemuProcesses(NAMESPACE, name) };
}

/** What a VM that is stopped or deleted must not leave behind, one sentence each. */
export async function leftovers(name: string): Promise<string[]> {
  const { pods, holder, processes } = await tracesOf(name);
  return [
    ...pods.map(({ metadata }) => `Pod ${metadata?.name} is left`),
    ...(holder ? [`the run token is held by VMI ${holder.vmiUid}, Pod ${holder.pod?.name ?? 'none'}`] : []),
    ...processes.map(({ pid }) => `QEMU process ${pid} is left`),
    ...(await mountsOfGonePods()),
  ];
}

/** What is there of a VM that runs beside its one guest, or lacks of it, one sentence each. */
async function surplus(name: string): Promise<string[]> {
  const { pods, holder, processes } = await tracesOf(name);
  const names = pods.map(({ metadata }) => metadata?.name);
  return [
    ...(pods.length === 1 ? [] : [`it has ${pods.length} Pods: ${names.join(', ')}`]),
    ...(processes.length === 1 ? [] : [`it has ${processes.length} QEMU processes`]),
    ...(holder?.pod?.uid === pods[0]?.metadata?.uid ? [] : [`Pod ${holder?.pod?.name ?? 'none'} holds the run token`]),
    ...(await mountsOfGonePods()),
  ];
}

export async function mountsOfGonePods(): Promise<string[]> {
  const mounts = await podMounts();
  const uids = await kubectl(['get', 'pods', '-A', '-o', 'jsonpath={.items[*].metadata.uid}']);
  return mounts.filter(({ podUid }) => !uids.includes(podUid)).map(({ path }) => `${path} is left mounted`);
}

/** Waits until nothing is left behind of a VM that is stopped. @throws Error naming what is left */
export const untilNothingLeft = (name: string, timeoutMs = 30_000): Promise<void> =>
  untilNone(`nothing left of VM ${name}`, () => leftovers(name), timeoutMs);

/** Waits until one guest is all there is of a VM: one Pod, which holds the run token, and one QEMU. @throws Error naming what else there is */
export const untilOneGuest = (name: string, timeoutMs = 30_000): Promise<void> =>
  untilNone(`one guest and nothing else of VM ${name}`, () => surplus(name), timeoutMs);

/** Waits until a look finds nothing any more. @throws Error naming `what` and what is found */
export async function untilNone(what: string, look: () => Promise<string[]>, timeoutMs: number): Promise<void> {
  let found: string[] = [];
  const isClean = async (): Promise<boolean> => (found = await look()).length === 0;
  await until(what, isClean, { timeoutMs, everyMs: 500, seen: () => found.join('; ') });
}
