import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { allProcesses } from '../../../deploy/local/cluster/cluster.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { ensureRestarted, ensureRunning, findRunning, stop, type ProcessSpec } from '../../../deploy/local/process.ts';
import { virtflow } from './kubectl.ts';

const ctx = createContext();

/** Processes of the local cluster that tests take down. */
export type ClusterProcess = 'temporal' | 'kube-apiserver';

const specOf = async (name: string): Promise<ProcessSpec> => {
  const spec = (await allProcesses(ctx)).find((one) => `/${one.name}`.endsWith(`/${name}`));
  if (!spec) throw new Error(`the local cluster has no process ${name}`);
  return spec;
};

/** kill -9. @throws Error when it does not run */
export async function killProcess(name: ClusterProcess): Promise<void> {
  const running = await findRunning(ctx, await specOf(name));
  if (!running) throw new Error(`${name} does not run`);
  process.kill(running.pid, 'SIGKILL');
}

/** Starts the process if it does not run, as `./dev start` does, and waits until it serves. */
export async function startProcess(name: ClusterProcess): Promise<void> {
  const spec = await specOf(name);
  // One that was killed this instant may still be listed.
  await pause(50);
  await ensureRunning(ctx, spec);
}

/** Takes a node's kubelet down; its Pods run on. */
export async function stopKubelet(node: string): Promise<void> {
  const running = await findRunning(ctx, await specOf(`${node}/system/kubelet`));
  if (running) await stop(running);
}

/** Does nothing if it runs. */
export const startKubelet = async (node: string): Promise<void> =>
  ensureRestarted(ctx, await specOf(`${node}/system/kubelet`));

/** Stops Temporal, deletes all that it knows, starts it and sets it up as the installation says. */
export async function wipeTemporal(): Promise<void> {
  const spec = await specOf('temporal');
  const running = await findRunning(ctx, spec);
  if (running) await stop(running);
  for (const suffix of ['', '-shm', '-wal'])
    await rm(join(ctx.stateDir, `temporal/temporal.db${suffix}`), { force: true });
  await ensureRunning(ctx, spec);
  await virtflow(['temporal', 'setup']);
}

/** Mount points below the kubelets' directories of Pods, on both nodes: uid of the Pod and path. */
export async function podMounts(): Promise<{ podUid: string; path: string }[]> {
  const kubelets = (await allProcesses(ctx)).filter(({ name }) => name.endsWith('/kubelet'));
  const mounts = await Promise.all(
    kubelets.map(async (spec) => {
      const running = await findRunning(ctx, spec);
      const lines = running ? (await readFile(`/proc/${running.pid}/mountinfo`, 'utf8')).split('\n') : [];
      return lines.flatMap((line) => {
        const path = line.split(' ')[4] ?? '';
        const podUid = /\/kubelet\/pods\/([^/]+)\//.exec(path)?.[1];
        return podUid ? [{ podUid, path }] : [];
      });
    }),
  );
  return mounts.flat();
}
