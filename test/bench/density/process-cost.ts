import { readFile } from 'node:fs/promises';

/** USER_HZ, fixed at 100 on every Linux architecture with Node builds. */
const TICKS_PER_SECOND = 100;

/** CPU seconds that a process has used, from the text of its /proc/PID/stat; its name may hold blanks and parentheses. */
export const cpuSecondsOf = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};

/** The most memory that a process has had, in MiB, from the text of its /proc/PID/status. */
export const peakMemoryOf = (status: string): number => Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;

export interface Cost {
  cpuSeconds: number;
  /** Since it was started. */
  peakMiB: number;
}

export const costOf = async (pid: number): Promise<Cost> => ({
  cpuSeconds: cpuSecondsOf(await readFile(`/proc/${pid}/stat`, 'utf8')),
  peakMiB: peakMemoryOf(await readFile(`/proc/${pid}/status`, 'utf8')),
});
