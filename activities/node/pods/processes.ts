import { readdir, readFile } from 'node:fs/promises';
import { errorCode } from '../files/error-code.ts';
import { isInPod } from './cgroup.ts';

/** A living process of a Pod. */
export interface PodProcess {
  pid: number;
  /** Clock ticks after boot: tells a process from a later one with the same pid. */
  startTime: number;
  /** The kernel's short name of the program, 15 characters at most. */
  command: string;
  cgroup: string;
}

/** Processes of this node. Needs the host's PID namespace. */
export interface ProcessTable {
  /** Every living process of the Pod, oldest first; its containers' and its sandbox's. */
  ofPod(podUid: string): Promise<PodProcess[]>;
}

/** What /proc/<pid>/stat says: program, state, number of threads, start time. The program's name may hold blanks and parentheses. */
export const parseStat = (stat: string): { command: string; state: string; threads: number; startTime: number } => {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return {
    command: stat.slice(stat.indexOf('(') + 1, end),
    state: fields[0] ?? '',
    threads: Number(fields[17]),
    startTime: Number(fields[19]),
  };
};

/** A zombie is dead once its last thread is: until then a thread of it may still run guest code. */
const isAlive = ({ state, threads }: { state: string; threads: number }): boolean =>
  state !== 'X' && (state !== 'Z' || threads > 1);

export const processTable = (proc = '/proc'): ProcessTable => ({
  async ofPod(podUid) {
    const found = new Map<number, PodProcess>();
    // A process that forks and exits while /proc is read can hide its child: a second pass sees the child.
    for (let pass = 0; pass < 2; pass++) {
      for (const pid of await pids(proc)) {
        const process = await readProcess(proc, pid, podUid);
        if (process === undefined) found.delete(pid);
        else found.set(pid, process);
      }
    }
    return [...found.values()].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
  },
});

const pids = async (proc: string): Promise<number[]> =>
  (await readdir(proc)).filter((name) => /^\d+$/.test(name)).map(Number);

const readProcess = async (proc: string, pid: number, podUid: string): Promise<PodProcess | undefined> => {
  try {
    const cgroup = await readFile(`${proc}/${pid}/cgroup`, 'utf8');
    if (!isInPod(cgroup, podUid)) return undefined;
    const stat = parseStat(await readFile(`${proc}/${pid}/stat`, 'utf8'));
    return isAlive(stat) ? { pid, startTime: stat.startTime, command: stat.command, cgroup } : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};

/** ENOENT: no such process any more; ESRCH: it ended while its file was read. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '');

/** QEMU by its program's name: `qemu-system-x86_64` (cut to 15 characters), `qemu-kvm`. */
export const isQemu = (process: Pick<PodProcess, 'command'>): boolean => process.command.startsWith('qemu-');
