import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorCode } from '../files/error-code.ts';
import { isInAnyPod, isInPod } from './cgroup.ts';

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
  /**
   * Living processes of the Pod, oldest first, for somebody who looks again and again until one is there: what is elsewhere and older
   * than half a second is not looked at again, and so most looks cost next to nothing. Says nothing of what is not there.
   */
  seenOfPod(podUid: string): Promise<PodProcess[]>;
  /** Every living QEMU of the Pod. Reads as little as it can and does not give way meanwhile: a guest may stand still until it is done. */
  qemuOf(podUid: string): PodProcess[];
  /** SIGKILL, unless another process has the pid by now. */
  kill(process: PodProcess): void;
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

export const processTable = (proc = '/proc'): ProcessTable => {
  const read = (file: string): string => {
    try {
      return readFileSync(`${proc}/${file}`, 'utf8');
    } catch (error) {
      return emptyIfGone(error);
    }
  };
  /** These files are made from the kernel's memory: read at once they cost a tenth of what they cost through the thread pool. */
  const look = (found: Map<number, PodProcess>, pid: number, podUid: string): void => {
    const cgroup = read(`${pid}/cgroup`);
    if (isInPod(cgroup, podUid)) note(found, pid, cgroup, read(`${pid}/stat`));
    else found.delete(pid);
  };
  const settled = settledProcesses();
  return {
    async seenOfPod(podUid) {
      const found = new Map<number, PodProcess>();
      const ticks = Number.parseFloat(read('uptime')) * 100;
      for (const [index, pid] of settled.open(pids(readdirSync(proc))).entries()) {
        if (index % BATCH === BATCH - 1) await nextTurn();
        const [cgroup, stat] = [read(`${pid}/cgroup`), read(`${pid}/stat`)];
        if (isInPod(cgroup, podUid)) note(found, pid, cgroup, stat);
        else if (stat !== '') settled.saw(pid, cgroup, ticks - parseStat(stat).startTime);
      }
      return oldestFirst(found);
    },
    async ofPod(podUid) {
      const found = new Map<number, PodProcess>();
      for (let pass = 0; pass < PASSES; pass++) {
        for (const [index, pid] of pids(readdirSync(proc)).entries()) {
          if (index % BATCH === BATCH - 1) await nextTurn();
          look(found, pid, podUid);
        }
      }
      return oldestFirst(found);
    },
    qemuOf(podUid) {
      const found = new Map<number, PodProcess>();
      for (let pass = 0; pass < PASSES; pass++) {
        for (const pid of pids(readdirSync(proc))) {
          if (isQemu({ command: read(`${pid}/comm`) })) look(found, pid, podUid);
          else found.delete(pid);
        }
      }
      return oldestFirst(found);
    },
    kill({ pid, startTime }) {
      try {
        if (parseStat(readFileSync(`${proc}/${pid}/stat`, 'utf8')).startTime === startTime)
          process.kill(pid, 'SIGKILL');
      } catch (error) {
        emptyIfGone(error);
      }
    },
  };
};

/** A runtime moves a process into its container's group within milliseconds of its start. Ticks, of which every Linux has 100 a second. */
const SETTLED_TICKS = 50;
/** Looks further apart than this do not know each other: meanwhile a pid may have been given to another process. */
const FORGET_MS = 5_000;

/** Remembers, from look to look, which processes are outside of all Pods and old enough to stay there. */
const settledProcesses = (now = () => performance.now()) => {
  const outside = new Set<number>();
  let lookedAt = -Infinity;
  return {
    /** Those of the listed processes that have to be looked at. */
    open(listed: readonly number[]): number[] {
      const living = new Set(now() - lookedAt > FORGET_MS ? [] : listed);
      for (const pid of outside) if (!living.has(pid)) outside.delete(pid);
      lookedAt = now();
      return listed.filter((pid) => !outside.has(pid));
    },
    /** `age` in ticks. */
    saw(pid: number, cgroup: string, age: number): void {
      if (age > SETTLED_TICKS && !isInAnyPod(cgroup)) outside.add(pid);
    },
  };
};

/** A process that forks and exits while /proc is read can hide its child: a second pass sees the child. */
const PASSES = 2;

/** Processes that are looked at before others get their turn: a few milliseconds' worth. */
const BATCH = 200;

const note = (found: Map<number, PodProcess>, pid: number, cgroup: string, stat: string): void => {
  const process = stat === '' ? undefined : parseStat(stat);
  if (process === undefined || !isAlive(process)) found.delete(pid);
  else found.set(pid, { pid, startTime: process.startTime, command: process.command, cgroup });
};

const oldestFirst = (found: Map<number, PodProcess>): PodProcess[] =>
  [...found.values()].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);

const pids = (names: string[]): number[] => names.filter((name) => /^\d+$/.test(name)).map(Number);

/** ENOENT: no such process any more; ESRCH: it ended while its file was read. */
const emptyIfGone = (error: unknown): string => {
  if (['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '')) return '';
  throw error;
};

/** QEMU by its program's name: `qemu-system-x86_64` (cut to 15 characters), `qemu-kvm`. */
export const isQemu = (process: Pick<PodProcess, 'command'>): boolean => process.command.startsWith('qemu-');
