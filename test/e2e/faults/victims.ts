import { killInPod, processesOfPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { killProcess, startProcess, type ClusterProcess } from '../support/local-cluster.ts';
import { launcherPods, systemPods } from '../support/pods.ts';
import { getVmi } from '../support/vms.ts';

/** A process that dies in the middle of an operation. */
export interface Victim {
  readonly name: string;
  /** Waits until it can be killed: a launcher exists only some way into a start. Returns how to kill it, at once. */
  readonly aim: (vm: string) => Promise<() => Promise<void>>;
  /** Starts it again if nothing in the cluster does that. */
  readonly revive?: () => Promise<void>;
}

/** What is on the command lines of virtflow's processes. */
export const PROCESSES = {
  controller: /workers\/controller\/main\.ts/,
  nodeWorker: /workers\/node\/main\.ts/,
  launcher: /^node .*launcher\/main\.[jt]s$/,
  libvirtd: /^\/usr\/sbin\/libvirtd /,
} as const;

const killAll = async (podUids: readonly string[], pattern: RegExp): Promise<void> => {
  const killed = await Promise.all(podUids.map((uid) => killInPod(uid, pattern)));
  if (killed.every((count) => count === 0)) throw new Error(`no process matches ${pattern.source}`);
};

/** Kubelets restart it. */
const worker = (component: 'controller' | 'node'): Victim => ({
  name: `${component} worker`,
  aim: async () => {
    const uids = (await systemPods(component)).map(({ metadata }) => metadata?.uid ?? '');
    return () => killAll(uids, component === 'node' ? PROCESSES.nodeWorker : PROCESSES.controller);
  },
});

/** The init of the launcher Pod restarts it. */
const inLauncherPod = (name: 'launcher' | 'libvirtd', pattern = PROCESSES[name]): Victim => ({
  name,
  aim: async (vm) => {
    const podUid = await until(
      `${name} of ${vm}`,
      async () => {
        const vmi = await getVmi(vm);
        const [pod] = vmi ? await launcherPods(vmi.metadata?.uid ?? '') : [];
        const uid = pod?.metadata?.uid;
        return uid !== undefined && (await isThere(uid, pattern)) ? uid : undefined;
      },
      { timeoutMs: 120_000, everyMs: 200 },
    );
    // It may be gone at that instant, because the operation is over or nearly so: nothing is killed then.
    return async () => void (await killInPod(podUid, pattern));
  },
});

const isThere = async (podUid: string, pattern: RegExp): Promise<boolean> =>
  (await processesOfPod(podUid)).some(({ command }) => pattern.test(command));

const clusterProcess = (name: ClusterProcess): Victim => ({
  name,
  aim: () => Promise.resolve(() => killProcess(name)),
  revive: () => startProcess(name),
});

export const victims: readonly Victim[] = [
  worker('controller'),
  worker('node'),
  inLauncherPod('launcher'),
  inLauncherPod('libvirtd'),
  clusterProcess('temporal'),
  clusterProcess('kube-apiserver'),
];
