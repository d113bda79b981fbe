import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { until } from './until.ts';

/** A container of a Pod, made by hand: a process in a root directory, a cgroup and namespaces of its own. */
export interface TestContainer {
  id: string;
  pid: number;
  /** Root directory as the test sees it. */
  root: string;
  kill: () => Promise<void>;
}

/** A cgroup hierarchy in which groups can be made, whichever version this machine has. */
const hierarchy = (): string => {
  const found = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup/pids', '/sys/fs/cgroup'].find((path) =>
    existsSync(join(path, 'cgroup.procs')),
  );
  if (found === undefined) throw new Error('no cgroup hierarchy is mounted below /sys/fs/cgroup');
  return found;
};

export interface ContainerOptions {
  podUid: string;
  /** Where the container's root directory is made. */
  directory: string;
  /** Its name in the Pod, and the kubelet's directory of Pods, in which it gets its file for last words. */
  kubelet?: { name: string; pods: string };
  /** What its image holds, by path. */
  files?: Record<string, Buffer>;
  /** Path of the network namespace it joins. */
  network?: string;
  /** Host directories that it sees, by its own path; what is mounted below them later is seen too (HostToContainer). */
  volumes?: Record<string, string>;
  /** Name of its program. */
  command?: string;
}

/** Starts a process as a container runtime would; it sleeps until it is killed. Needs root and a static busybox. */
export const startContainer = async ({
  podUid,
  directory,
  kubelet,
  files = {},
  network,
  volumes = {},
  command = 'busybox',
}: ContainerOptions): Promise<TestContainer> => {
  const id = randomBytes(32).toString('hex');
  const root = join(directory, id.slice(0, 8));
  const group = join(hierarchy(), 'virtflow-test', `pod${podUid}`, id);
  await mkdir(join(root, 'bin'), { recursive: true });
  await mkdir(group, { recursive: true });
  for (const name of ['busybox', command]) await copyFile('/bin/busybox', join(root, 'bin', name));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const mounts = Object.entries(volumes).map(
    ([inside, outside]) => `mkdir -p ${root}${inside} && mount --rbind ${outside} ${root}${inside}`,
  );
  if (kubelet !== undefined) {
    const words = join(kubelet.pods, podUid, 'containers', kubelet.name);
    await mkdir(words, { recursive: true });
    await writeFile(join(words, id.slice(0, 8)), '');
    const inside = `${root}/dev/termination-log`;
    mounts.push(`mkdir -p ${root}/dev && touch ${inside} && mount --bind ${join(words, id.slice(0, 8))} ${inside}`);
  }
  const script = [
    'set -e',
    `echo $$ > ${group}/cgroup.procs`,
    ...mounts,
    // busybox goes by its first argument, the kernel by the name of the file.
    `exec chroot ${root} /bin/busybox sh -c 'exec -a sleep /bin/${command} 1000'`,
  ].join('\n');
  const child = spawn('nsenter', [
    ...(network === undefined ? [] : [`--net=${network}`]),
    ...['unshare', '--mount', '--propagation', 'slave', 'sh', '-c', script],
  ]);
  const pid = child.pid ?? 0;
  await until('the container to run', async () => {
    if (child.exitCode !== null) throw new Error(`the container ended: ${String(child.stderr.read())}`);
    return (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() === command.slice(0, 15);
  });
  return { id, pid, root, kill: () => kill(child, group) };
};

const kill = async (child: ChildProcess, group: string): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  await until('the cgroup to be empty', () =>
    rmdir(group).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    ),
  );
};

/** Removes what is left of a test Pod's cgroups and directories. */
export const removePod = async (podUid: string, directory: string): Promise<void> => {
  await rmdir(join(hierarchy(), 'virtflow-test', `pod${podUid}`));
  await rm(directory, { recursive: true, force: true });
};
