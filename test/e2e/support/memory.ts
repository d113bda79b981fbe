import { readFile } from 'node:fs/promises';
import { processesOfPod } from '../../../deploy/local/pod-processes.ts';
import { systemPods } from './pods.ts';

/** Resident memory of virtflow's own processes in MiB, by Pod and process. */
export async function memoryOfWorkers(): Promise<Record<string, number>> {
  const pods = [...(await systemPods('controller')), ...(await systemPods('node'))];
  const found = await Promise.all(
    pods.map(async ({ metadata, spec }) => {
      const workers = (await processesOfPod(metadata?.uid ?? '')).filter(({ command }) => command.includes('main.ts'));
      const name = metadata?.name?.includes('controller') ? 'controller' : `node worker on ${spec?.nodeName}`;
      return Promise.all(workers.map(async ({ pid }) => [name, await residentMib(pid)] as const));
    }),
  );
  return Object.fromEntries(found.flat());
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}
