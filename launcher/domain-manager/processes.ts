import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Pid of the domain's QEMU by libvirt's pid file, undefined when no such process runs. */
export function qemuPid(runtimeDirectory: string, domain: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(runtimeDirectory, 'libvirt', 'qemu', 'run', `${domain}.pid`), 'utf8'));
    // The number may have gone to another process since.
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('qemu') ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Ends QEMU without libvirt, for when libvirt cannot do it in time. No process: nothing happens. */
export function killQemu(runtimeDirectory: string, domain: string): void {
  const pid = qemuPid(runtimeDirectory, domain);
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

/** Ends a libvirtd that does not answer any more; the init starts another one, which takes QEMU over. */
export function killLibvirtd(pidFile: string): void {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** True while any QEMU runs in this Pod, whatever libvirt thinks: the last word on whether a guest can run here. */
export const qemuRuns = (): boolean =>
  readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && commandOf(entry).startsWith('qemu-system'));

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}
