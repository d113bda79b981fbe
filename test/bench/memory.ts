import { readFile } from 'node:fs/promises';
import { processesOfPod } from '../../deploy/local/pod-processes.ts';
import { untilSettled } from '../e2e/support/migrations.ts';
import { launcherPod, systemPods } from '../e2e/support/pods.ts';
import { createClaim, deleteVm, getVmi } from '../e2e/support/vms.ts';
import type { Figure } from './figures.ts';
import { figure } from './figures.ts';
import { timeMigration, timeStart } from './vm.ts';

const NAME = 'bench-memory';
/** A launcher may use this much besides libvirtd and QEMU. */
const LAUNCHER_LIMIT_MIB = 90;

interface Memory {
  controller: number;
  nodes: number;
  launcher: number;
}

/** Resident memory of launcher, node workers and controller after many starts and migrations, against what they had after the first. */
export async function benchMemory(rounds: number, progress: (text: string) => void): Promise<Figure[]> {
  let before: Memory | undefined;
  let after: Memory | undefined;
  try {
    await deleteVm(NAME);
    await createClaim(NAME, '64Mi');
    for (let round = 1; round <= rounds; round += 1) {
      progress(`memory: start and migration ${round} of ${rounds}`);
      await timeStart(NAME);
      await timeMigration(`${NAME}-${Date.now()}`, NAME);
      await untilSettled(NAME);
      after = await measure();
      before ??= after;
      await deleteVm(NAME);
    }
  } finally {
    await deleteVm(NAME);
  }
  if (before === undefined || after === undefined) return [];
  const name = (what: string): string => `memory of ${what} after ${rounds} starts and migrations`;
  return [
    { name: name('a launcher'), value: after.launcher, unit: 'MiB', limit: LAUNCHER_LIMIT_MIB },
    figure({ name: name('the node workers'), value: after.nodes, unit: 'MiB', against: before.nodes }),
    figure({ name: name('the controller workers'), value: after.controller, unit: 'MiB', against: before.controller }),
  ];
}

async function measure(): Promise<Memory> {
  const launcher = (await launcherPod((await getVmi(NAME))?.metadata?.uid ?? '')).metadata?.uid ?? '';
  return {
    ...(await memoryOfWorkers()),
    launcher: await resident([launcher], /^node .*launcher\/main\.[jt]s$/),
  };
}

/** Resident memory of all controller workers and of all node workers of the local cluster, in MiB. */
export async function memoryOfWorkers(): Promise<{ controller: number; nodes: number }> {
  const uids = async (component: 'controller' | 'node'): Promise<string[]> =>
    (await systemPods(component)).map(({ metadata }) => metadata?.uid ?? '');
  return {
    controller: await resident(await uids('controller'), /workers\/controller\/main\.ts/),
    nodes: await resident(await uids('node'), /workers\/node\/main\.ts/),
  };
}

/** Resident memory of the processes of these Pods that match, in MiB. */
async function resident(podUids: readonly string[], pattern: RegExp): Promise<number> {
  const processes = (await Promise.all(podUids.map(processesOfPod))).flat();
  const sizes = processes
    .filter(({ command }) => pattern.test(command))
    .map(async ({ pid }) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
    });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
