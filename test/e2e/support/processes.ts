import { readdir, readFile } from 'node:fs/promises';

export interface PodProcess {
  pid: number;
  command: string;
}

/** Processes of a Pod, found by its uid in their cgroups: nothing else can be hit by what a test does to them. */
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
  for (const { pid } of victims) process.kill(pid, signal);
  return victims.length;
}

/** QEMU processes of a VM on the whole machine (both nodes), by the guest's name on their command line. */
export async function qemuProcesses(namespace: string, name: string): Promise<PodProcess[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
      return command.includes('qemu-system') && command.includes(`guest=${namespace}_${name},`)
        ? [{ pid: Number(pid), command }]
        : [];
    }),
  );
  return found.flat();
}
