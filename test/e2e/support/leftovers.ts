import type { Lease, Pod } from '../../../api/kubernetes/types.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import { tokenOf } from '../../../activities/facts/token.ts';
import { until } from '../../support/until.ts';
import { getObject, kubectl, listObjects } from './kubectl.ts';
import { podMounts } from './local-cluster.ts';
import { qemuProcesses } from './processes.ts';
import { NAMESPACE } from './vms.ts';

/** What a VM that is stopped or deleted must not leave behind, one sentence each. */
export async function leftovers(name: string): Promise<string[]> {
  const pods = await listObjects<Pod>('pod', NAMESPACE, `vm.kubevirt.io/name=${name}`);
  const lease = await getObject<Lease>('lease', tokenName({ name }), NAMESPACE);
  const holder = lease && tokenOf(lease).holder;
  const processes = await qemuProcesses(NAMESPACE, name);
  return [
    ...pods.map(({ metadata }) => `Pod ${metadata?.name} is left`),
    ...(holder ? [`the run token is held by VMI ${holder.vmiUid}, Pod ${holder.pod?.name ?? 'none'}`] : []),
    ...processes.map(({ pid }) => `QEMU process ${pid} is left`),
    ...(await mountsOfGonePods()),
  ];
}

async function mountsOfGonePods(): Promise<string[]> {
  const mounts = await podMounts();
  const uids = await kubectl(['get', 'pods', '-A', '-o', 'jsonpath={.items[*].metadata.uid}']);
  return mounts.filter(({ podUid }) => !uids.includes(podUid)).map(({ path }) => `${path} is left mounted`);
}

/** Waits until nothing is left behind of a VM that is stopped. @throws Error naming what is left */
export async function untilNothingLeft(name: string, timeoutMs = 30_000): Promise<void> {
  let left: string[] = [];
  const isClean = async (): Promise<boolean> => {
    left = await leftovers(name);
    return left.length === 0;
  };
  await until(`nothing left of ${name}`, isClean, { timeoutMs, everyMs: 500 }).catch((error: unknown) => {
    throw new Error(`of VM ${name} something is left: ${left.join('; ')}`, { cause: error });
  });
}
