import { readdir, readFile } from 'node:fs/promises';
import type { PodProcess } from '../../../deploy/local/pod-processes.ts';

/** QEMU processes of a VM on the whole machine (both nodes), by the guest's name on their command line. */
export async function qemuProcesses(namespace: string, name: string): Promise<PodProcess[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
      const isOurs = command.includes('qemu-system') && command.includes(`guest=${namespace}_${name},`);
      return isOurs ? [{ pid: Number(pid), command }] : [];
    }),
  );
  return found.flat();
}
