import { spawn } from 'node:child_process';
import { mkdir, open, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { digest, exists } from './cache.ts';
import { cgroupDir, processesIn } from './cgroup.ts';
import type { Context } from './context.ts';
import { until } from './wait.ts';

/** A process of the local cluster: what it is, not whether it runs. */
export interface ProcessSpec {
  /** Also its cgroup below /virtflow, its log and its record: `control-plane/etcd`, `node-a/system/kubelet`. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Put before the command: enters namespaces and then executes it, so that the process keeps its pid. */
  readonly enter?: readonly string[];
  /** Contents of the files it reads at start: when they change it is started anew. */
  readonly reads?: readonly string[];
  /** Shown by `status`. */
  readonly address: string;
  /** Whether it serves. Never throws. */
  readonly ready: () => Promise<boolean>;
  /** How long it may take to serve, in seconds. */
  readonly readyWithin: number;
}

/** A running process. The start time tells it from another one that was given the same pid later. */
export interface Running {
  readonly pid: number;
  /** In clock ticks since the machine's boot: field 22 of /proc/PID/stat. */
  readonly startTime: number;
}

const recordSchema = z.object({ pid: z.number(), startTime: z.number(), spec: z.string() });
type Record = z.infer<typeof recordSchema>;

const recordFile = (ctx: Context, name: string): string => join(ctx.stateDir, 'run', `${name}.json`);
export const logFile = (ctx: Context, name: string): string => join(ctx.stateDir, 'logs', `${name}.log`);

/** Start time of a process from the text of its /proc/PID/stat; the command's name may hold spaces and parentheses. */
export const startTimeOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);

/** The state letter of a process from the text of its /proc/PID/stat: Z is a zombie. */
export const stateOf = (stat: string): string => stat.charAt(stat.lastIndexOf(')') + 2);

async function isRunning({ pid, startTime }: Running): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat !== undefined && stateOf(stat) !== 'Z' && startTimeOf(stat) === startTime;
}

async function recorded(ctx: Context, name: string): Promise<Record | undefined> {
  const text = await readFile(recordFile(ctx, name), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const record = recordSchema.safeParse(tryJson(text));
  return record.success && (await isRunning(record.data)) ? record.data : undefined;
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a record cut short by a crash: as good as none
  }
};

/** The process as it runs now, or undefined. */
export const findRunning = (ctx: Context, spec: ProcessSpec): Promise<Running | undefined> => recorded(ctx, spec.name);

/**
 * Sees to it that the process runs as specified and serves: leaves it alone when it does, starts it otherwise.
 * @throws Error with the end of its log when it exits or does not serve in time
 */
export async function ensureRunning(ctx: Context, spec: ProcessSpec): Promise<void> {
  const key = digest(...(spec.enter ?? []), ...spec.command, ...(spec.reads ?? []));
  const before = await recorded(ctx, spec.name);
  if (before?.spec !== key) {
    if (before) await stop(before);
    await stopLeftovers(spec);
    await start(ctx, spec, key);
  }
  await untilReady(ctx, spec);
}

/** How long a process that exits is started anew, in seconds. */
const RESTARTS_WITHIN = 30;

/** `ensureRunning` for a process that exits while another one is not ready for it, as an ordinary machine's init restarts it. */
export async function ensureRestarted(ctx: Context, spec: ProcessSpec): Promise<void> {
  const deadline = Date.now() + RESTARTS_WITHIN * 1000;
  for (;;) {
    try {
      return await ensureRunning(ctx, spec);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function start(ctx: Context, spec: ProcessSpec, key: string): Promise<void> {
  const cgroup = cgroupDir(spec.name);
  for (const dir of [cgroup, dirname(recordFile(ctx, spec.name)), dirname(logFile(ctx, spec.name))]) {
    await mkdir(dir, { recursive: true });
  }
  const log = await open(logFile(ctx, spec.name), 'a');
  try {
    const script = `echo $$ > "${cgroup}/cgroup.procs" && exec "$@"`;
    const child = spawn('sh', ['-c', script, 'sh', ...(spec.enter ?? []), ...spec.command], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    if (child.pid === undefined) throw new Error(`${spec.name}: sh could not be started`);
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) return; // it has exited already: whoever waits until it is ready finds no record of it
    const startTime = startTimeOf(stat);
    await writeFile(recordFile(ctx, spec.name), JSON.stringify({ pid: child.pid, startTime, spec: key }));
  } finally {
    await log.close();
  }
}

async function untilReady(ctx: Context, spec: ProcessSpec): Promise<void> {
  try {
    await until(`${spec.name} serving at ${spec.address}`, spec.readyWithin, async () => {
      if (!(await recorded(ctx, spec.name))) throw new Error(`${spec.name} exited`);
      return spec.ready();
    });
  } catch (cause) {
    const log = await readFile(logFile(ctx, spec.name), 'utf8').catch(() => '');
    const tail = log.split('\n').slice(-15).join('\n');
    throw new Error(`${(cause as Error).message}; the end of ${logFile(ctx, spec.name)}:\n${tail}`, { cause });
  }
}

/** Ends a process: asked to first, killed after ten seconds. */
export async function stop(running: Running): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(running.pid, name);
    } catch {
      // already gone
    }
  };
  const gone = async () => !(await isRunning(running));
  if (await gone()) return;
  signal('SIGTERM');
  await until(`the end of pid ${running.pid}`, 10, gone).catch(() => signal('SIGKILL'));
  await until(`the end of pid ${running.pid} after SIGKILL`, 10, gone);
}

/**
 * A set-up that was killed may have started a process without recording it. The cgroup knows; children that outlive
 * their parent by design (containerd's shims) have another executable and stay.
 */
async function stopLeftovers(spec: ProcessSpec): Promise<void> {
  if (!(await exists(cgroupDir(spec.name)))) return;
  for (const pid of await processesIn(spec.name)) {
    const executable = await readlink(`/proc/${pid}/exe`).catch(() => '');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat !== undefined && basename(executable) === basename(spec.command[0])) {
      await stop({ pid, startTime: startTimeOf(stat) });
    }
  }
}

/** Forgets what ran: for after `killAll`. */
export const forgetAll = (ctx: Context): Promise<void> =>
  rm(join(ctx.stateDir, 'run'), { recursive: true, force: true });

/** When a process was started, in milliseconds since the epoch. */
export async function startedAt(running: Running): Promise<number> {
  const boot = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1];
  const ticksPerSecond = 100; // USER_HZ, fixed at 100 on every Linux architecture with Node builds
  return Number(boot) * 1000 + (running.startTime / ticksPerSecond) * 1000;
}
