import type { RunToken } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import { runToken, tokenOf } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { OwnFence } from '../../fencing.ts';
import { withLauncher } from '../connect.ts';
import { launcherPods, lastReport } from '../launcher-client/sockets.ts';
import { qemuAfter } from '../pods/qemu.ts';
import type { NodePorts } from '../ports.ts';

export type StopPorts = Pick<NodePorts, 'pods' | 'kube' | 'launchers' | 'processes'>;

/** QEMU's process ends shortly after libvirt has said so, and at once when it is killed. */
const EXIT_MS = 5_000;

/**
 * Whether a domain that runs in this Pod must not: its node counts as gone, or the run token has passed on. A token that does not exist says nothing,
 * unless the node was fenced: then whoever had it may have come to an end meanwhile. Pure.
 */
export const isStale = (podUid: string, token: RunToken | undefined, fence: OwnFence['kind']): boolean => {
  if (fence === 'standing') return true;
  if (token === undefined) return fence === 'earlier';
  return token.holder?.podUid !== podUid && token.moving?.podUid !== podUid;
};

/** A domain that was stopped, and why. */
export interface Stopped {
  podUid: string;
  vmi?: ObjectRef;
  token?: RunToken;
}

/**
 * Stops every domain of this node that may run elsewhere by now. A launcher that does not answer is not waited for: its QEMU is
 * killed. @throws StillRunning; whatever keeps the API server from answering
 */
export const stopStaleDomains = async (ports: StopPorts, fence: OwnFence): Promise<Stopped[]> => {
  const pods = await launcherPods(ports.pods);
  const stopped = await Promise.all(pods.map((podUid) => stopIfStale(ports, podUid, fence)));
  return stopped.flatMap((one) => one ?? []);
};

const stopIfStale = async (ports: StopPorts, podUid: string, fence: OwnFence): Promise<Stopped | undefined> => {
  if (ports.processes.qemuOf(podUid).length === 0) return undefined;
  const vmi = await instanceIn(ports, podUid);
  if (vmi === undefined && fence.kind === 'none') return undefined;
  const token = vmi === undefined ? undefined : await readToken(ports, vmi);
  if (!isStale(podUid, token, fence.kind)) return undefined;
  await stop(ports, podUid, vmi);
  return { podUid, ...(vmi === undefined ? {} : { vmi }), ...(token === undefined ? {} : { token }) };
};

/** Whose launcher it is, by its own word now or earlier; undefined: it has never said anything. */
const instanceIn = async ({ launchers, pods }: StopPorts, podUid: string): Promise<ObjectRef | undefined> => {
  const last = await lastReport(pods, podUid);
  if (last !== undefined) return last.vmi;
  try {
    const launcher = await launchers.connect(podUid);
    launcher.close();
    const { namespace, name, vmiUid: uid } = launcher.handshake;
    return { namespace, name, uid };
  } catch {
    return undefined;
  }
};

const readToken = async ({ kube }: StopPorts, vmi: ObjectRef): Promise<RunToken | undefined> => {
  const lease = await kube.get('Lease', { namespace: vmi.namespace, name: tokenName(vmi) });
  return lease === undefined ? undefined : runToken(tokenOf(lease));
};

const stop = async (ports: StopPorts, podUid: string, vmi: ObjectRef | undefined): Promise<void> => {
  const { processes } = ports;
  if (vmi !== undefined) {
    const request = { vmi, pod: { name: podUid, uid: podUid } };
    const killed = await withLauncher(ports, request, (launcher) => launcher.killVMI(vmi.uid)).catch(() => undefined);
    if (killed !== undefined && (await qemuAfter(processes, podUid, EXIT_MS)) === undefined) return;
  }
  for (const qemu of processes.qemuOf(podUid)) processes.kill(qemu);
  const left = await qemuAfter(processes, podUid, EXIT_MS);
  if (left === undefined) return;
  throw failure('StillRunning', `QEMU (pid ${left.pid}) of Pod ${podUid} does not end, even killed`);
};
