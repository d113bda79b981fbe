import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { installDaemon } from '../../launcher/daemon/install.ts';
import { daemonEnvironment, daemonPaths } from '../../launcher/daemon/paths.ts';
import type { DaemonPaths } from '../../launcher/daemon/paths.ts';
import { until } from './until.ts';

const LIBVIRTD = '/usr/sbin/libvirtd';
/** Debian's own user for QEMU: unprivileged and, as libvirt demands, with a passwd entry. */
const UNPRIVILEGED_USER = 'libvirt-qemu';

/** A libvirtd of one test's own, unprivileged, with its files in a temporary directory. */
export interface PrivateLibvirtd {
  readonly paths: DaemonPaths;
  readonly socketPath: string;
  /** Ends libvirtd at once (kill -9); QEMU runs on. */
  kill(): Promise<void>;
  /** Starts it again on the same files. */
  start(): Promise<void>;
  /** Ends libvirtd and every QEMU it started, and removes the files. */
  dispose(): Promise<void>;
}

/** @throws Error with the remedy when libvirtd or QEMU is not installed */
export async function startPrivateLibvirtd(): Promise<PrivateLibvirtd> {
  requireInstalled();
  const paths = daemonPaths(mkdtempSync(join(tmpdir(), 'vf-lv-')));
  prepare(paths);
  let daemon: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    rmSync(paths.socket, { force: true });
    rmSync(paths.pidFile, { force: true });
    const log = openSync(join(paths.base, 'libvirtd.log'), 'a');
    const [command, ...args] = asUnprivileged(LIBVIRTD, '--pid-file', paths.pidFile);
    daemon = spawn(command, args, { env: daemonEnvironment(paths), stdio: ['ignore', log, log] });
    await until(`libvirtd listens on ${paths.socket}`, () => existsSync(paths.socket));
  };
  const kill = async (): Promise<void> => {
    const dying = daemon;
    daemon = undefined;
    if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
    const exited = new Promise((resolve) => dying.once('exit', resolve));
    dying.kill('SIGKILL');
    await exited;
  };

  await start();
  return {
    paths,
    socketPath: paths.socket,
    kill,
    start,
    dispose: async () => {
      await kill();
      qemuPids(paths).forEach(killIfAlive);
      keepCapabilities(paths);
      rmSync(paths.base, { recursive: true, force: true });
    },
  };
}

/** Pids of the QEMU processes that this libvirtd started. */
export function qemuPids(paths: DaemonPaths): number[] {
  const directory = join(paths.runtime, 'libvirt', 'qemu', 'run');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pid') && name !== 'driver.pid')
    .map((name) => Number(readFileSync(join(directory, name), 'utf8')));
}

/** The command, run by the unprivileged user when we are root. */
export function asUnprivileged(command: string, ...args: string[]): [string, ...string[]] {
  if (userInfo().uid !== 0) return [command, ...args];
  const ids = [
    '--reuid',
    UNPRIVILEGED_USER,
    '--regid',
    'kvm',
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ];
  return ['setpriv', ...ids, command, ...args];
}

/** Gives a directory tree to the user that {@link asUnprivileged} runs as. */
export function giveToUnprivileged(directory: string): void {
  if (userInfo().uid === 0) execFileSync('chown', ['-R', `${UNPRIVILEGED_USER}:kvm`, directory]);
}

function requireInstalled(): void {
  for (const [file, packages] of [
    [LIBVIRTD, 'libvirt-daemon-system'],
    ['/usr/bin/qemu-system-x86_64', 'qemu-system-x86'],
  ] as const) {
    if (!existsSync(file)) throw new Error(`${file} is missing: apt-get install --no-install-recommends ${packages}`);
  }
}

/** Probing QEMU takes libvirt seconds: what it found is kept for the next test. */
const capabilitiesOf = (cache: string): string => join(cache, 'libvirt', 'qemu', 'cache', 'capabilities');
const keptCapabilities = join(tmpdir(), 'virtflow-test-libvirt-capabilities');

function prepare(paths: DaemonPaths): void {
  installDaemon(paths, randomUUID());
  if (existsSync(keptCapabilities))
    cpSync(keptCapabilities, capabilitiesOf(paths.cache), { recursive: true, preserveTimestamps: true });
  giveToUnprivileged(paths.base);
}

function keepCapabilities(paths: DaemonPaths): void {
  if (existsSync(keptCapabilities) || !existsSync(capabilitiesOf(paths.cache))) return;
  cpSync(capabilitiesOf(paths.cache), keptCapabilities, { recursive: true, preserveTimestamps: true });
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
