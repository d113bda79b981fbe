import { killInPod, processesOfPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { killProcess, startProcess, type ClusterProcess } from '../support/local-cluster.ts';
import { launcherPods, systemPods } from '../support/pods.ts';
import type { Movement } from './migrating.ts';
import { PROCESSES } from './victims.ts';

export type Side = 'source' | 'target';

/** A process that dies or freezes in the middle of a migration. */
export interface MigrationVictim {
  /** One of each kind is struck in every run. */
  readonly kind: string;
  readonly name: string;
  /** Not there before the target Pod is. */
  readonly isLate: boolean;
  /** It can be frozen without freezing the test. */
  readonly canFreeze: boolean;
  /** Waits until it can be struck. Returns how to send it a signal, at once. */
  readonly aim: (movement: Movement) => Promise<(signal: NodeJS.Signals) => Promise<void>>;
  /** Starts it again if nothing in the cluster does that. */
  readonly revive?: () => Promise<void>;
}

const SIDES = ['source', 'target'] as const;
const nodeOf = (movement: Movement, side: Side): string =>
  side === 'source' ? movement.source.node : movement.targetNode;

const strikeAll =
  (podUids: readonly string[], pattern: RegExp) =>
  async (signal: NodeJS.Signals): Promise<void> => {
    const struck = await Promise.all(podUids.map((uid) => killInPod(uid, pattern, signal)));
    if (struck.every((count) => count === 0)) throw new Error(`no process matches ${pattern.source}`);
  };

const controller: MigrationVictim = {
  ...{ kind: 'controller', name: 'controller', isLate: false, canFreeze: true },
  aim: async () => strikeAll((await systemPods('controller')).map(uidOf), PROCESSES.controller),
};

const nodeWorker = (side: Side): MigrationVictim => ({
  ...{ kind: 'node worker', name: `node worker, ${side}`, isLate: false, canFreeze: true },
  aim: async (movement) =>
    strikeAll((await systemPods('node', nodeOf(movement, side))).map(uidOf), PROCESSES.nodeWorker),
});

/** The init of the launcher Pod restarts it. */
const inLauncherPod = (kind: 'launcher' | 'libvirtd', side: Side): MigrationVictim => ({
  ...{ kind, name: `${kind}, ${side}`, isLate: side === 'target', canFreeze: true },
  aim: async (movement) => {
    const podUid = side === 'source' ? movement.source.podUid : await targetWith(movement, PROCESSES[kind]);
    // It may be gone at that instant, because all is over: nothing is struck then.
    return async (signal) => void (await killInPod(podUid, PROCESSES[kind], signal));
  },
});

const clusterProcess = (name: ClusterProcess): MigrationVictim => ({
  ...{ kind: name, name, isLate: false, canFreeze: false },
  aim: () => Promise.resolve(() => killProcess(name)),
  revive: () => startProcess(name),
});

export const migrationVictims: readonly MigrationVictim[] = [
  controller,
  ...SIDES.map(nodeWorker),
  ...SIDES.map((side) => inLauncherPod('launcher', side)),
  ...SIDES.map((side) => inLauncherPod('libvirtd', side)),
  clusterProcess('temporal'),
  clusterProcess('kube-apiserver'),
];

const uidOf = ({ metadata }: { metadata?: { uid?: string } }): string => metadata?.uid ?? '';

/** Uid of the target Pod, once such a process runs there. */
const targetWith = (movement: Movement, pattern: RegExp): Promise<string> =>
  until(
    `a process ${pattern.source} in the target Pod of ${movement.vm}`,
    async () => {
      const pods = await launcherPods(movement.vmiUid).catch(() => []);
      const target = pods.map(uidOf).find((uid) => uid !== movement.source.podUid);
      const isThere = async (uid: string) => (await processesOfPod(uid)).some(({ command }) => pattern.test(command));
      return target !== undefined && (await isThere(target)) ? target : undefined;
    },
    { timeoutMs: 120_000, everyMs: 100 },
  );

/** When the target's launcher runs. */
export const untilTargetLauncher = (movement: Movement): Promise<string> => targetWith(movement, PROCESSES.launcher);
