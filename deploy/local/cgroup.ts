import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from './cache.ts';
import { until } from './wait.ts';

/**
 * Everything that the local set-up runs lives in the cgroup /virtflow: control-plane/<process>, and per node
 * <node>/system/<process> and <node>/kubepods. The kernel keeps that list, through forks and crashes of whoever
 * started them, so `down` finds every process of ours and never one of somebody else.
 */
export const rootCgroup = 'virtflow';

const mountpoint = '/sys/fs/cgroup';

/** Whether the machine has cgroup v2 only; otherwise v1 controllers with v2 beside them at `unified`. */
export const isPureV2 = (): boolean => existsSync(join(mountpoint, 'cgroup.controllers'));

/** Where the v2 hierarchy is mounted: it alone says which processes are ours. */
const v2 = (): string => (isPureV2() ? mountpoint : join(mountpoint, 'unified'));

/** The directory of one of our cgroups in the v2 hierarchy; `path` is below /virtflow. */
export const cgroupDir = (path = ''): string => join(v2(), rootCgroup, path);

async function hierarchies(): Promise<string[]> {
  if (isPureV2()) return [mountpoint];
  return (await readdir(mountpoint)).map((name) => join(mountpoint, name));
}

/** Makes a cgroup that a kubelet can use as its root: it must be there in every hierarchy. */
export async function ensureNodeCgroup(path: string): Promise<void> {
  const levels = ['', rootCgroup, join(rootCgroup, path)];
  for (const hierarchy of await hierarchies()) await mkdir(join(hierarchy, rootCgroup, path), { recursive: true });
  if (!isPureV2()) return;
  for (const level of levels) {
    await writeFile(join(mountpoint, level, 'cgroup.subtree_control'), '+cpu +cpuset +memory +pids +io');
  }
}

/** The processes in one of our cgroups, not those in cgroups below it. */
export async function processesIn(path: string): Promise<number[]> {
  const text = await readFile(join(cgroupDir(path), 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

/** Kills every process of ours, of Pods too, and removes our cgroups. Fine when there are none. */
export async function killAll(): Promise<void> {
  if (await exists(cgroupDir())) {
    await writeFile(join(cgroupDir(), 'cgroup.kill'), '1');
    await until('the end of every process in the cgroup /virtflow', 30, async () =>
      (await readFile(join(cgroupDir(), 'cgroup.events'), 'utf8')).includes('populated 0'),
    );
  }
  for (const hierarchy of await hierarchies()) await removeTree(join(hierarchy, rootCgroup));
}

async function removeTree(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name));
  // A process that has just been killed may hold its cgroup for another moment.
  await until(`the removal of the cgroup ${dir}`, 10, () =>
    rmdir(dir).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    ),
  );
}
