import { readdir, readFile } from 'node:fs/promises';

export interface PodProcess {
  readonly pid: number;
  readonly command: string;
}

/** Processes of a Pod, found by its uid in their cgroups, so that nothing else can be taken for one. */
export async function processesOfPod(podUid: string): Promise<PodProcess[]> {
  const marks = [podUid, podUid.replaceAll('-', '_')];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
      if (!marks.some((mark) => cgroup.includes(mark))) return [];
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
      return [{ pid: Number(pid), command }];
    }),
  );
  return found.flat();
}

/** Kills those processes of a Pod whose command line matches. @returns how many were killed */
export async function killInPod(podUid: string, pattern: RegExp, signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
  const victims = (await processesOfPod(podUid)).filter(({ command }) => pattern.test(command));
  for (const { pid } of victims) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It was ending by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
  return victims.length;
}
