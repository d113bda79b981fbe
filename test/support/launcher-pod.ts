import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  COMMAND_SOCKET,
  INITRD_IMAGE,
  KERNEL_IMAGE,
  LAST_REPORT_FILE,
  LAUNCHER_ENV,
  LAUNCHER_UID,
  LAUNCHER_VOLUMES,
  VM_STATE,
} from '../../api/launcher/paths.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { copyTestGuest } from './test-guest.ts';
import { until } from './until.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

export interface LauncherPodOptions {
  gracePeriodSeconds?: number;
  /** Set up bridge and tap as the node worker does for masquerade. */
  network?: boolean;
  /** The VMI that it serves; absent: one of its own. */
  vmi?: LauncherPod['vmi'];
  /** Directory in place of the claim for what the guest keeps; absent: it keeps nothing. */
  kept?: string;
}

/**
 * A launcher Pod without Kubernetes: namespaces of its own, the launcher's volumes, an unprivileged user without capabilities, and the launcher's init as
 * its first process. Needs root.
 */
export class LauncherPod {
  readonly uid = randomUUID();
  readonly vmi: { namespace: string; name: string; uid: string };
  /** Resolves with the exit code of the init. */
  readonly exited: Promise<number | null>;
  readonly #base: string;
  readonly #outer: ChildProcess;
  #output = '';

  private constructor(base: string, options: LauncherPodOptions) {
    this.#base = base;
    this.vmi = options.vmi ?? { namespace: 'default', name: 'guest', uid: randomUUID() };
    const script = join(base, 'start');
    writeFileSync(script, startScript(base, this.#environment(options), options));
    const namespaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--mount-proc'];
    this.#outer = spawn('unshare', [...namespaces, '--propagation', 'private', 'sh', '-eu', script]);
    this.#outer.stdout?.on('data', (chunk) => (this.#output += String(chunk)));
    this.#outer.stderr?.on('data', (chunk) => (this.#output += String(chunk)));
    this.exited = new Promise((resolve) => this.#outer.once('exit', resolve));
  }

  /** Starts the Pod and waits until its command socket is there. */
  static async start(options: LauncherPodOptions = {}): Promise<LauncherPod> {
    if (userInfo().uid !== 0) throw new Error('a test Pod needs namespaces: run these tests as root');
    const base = mkdtempSync(join(tmpdir(), 'vf-pod-'));
    chmodSync(base, 0o755);
    for (const { name } of Object.values(LAUNCHER_VOLUMES)) {
      mkdirSync(join(base, name));
      chmodSync(join(base, name), 0o777);
    }
    const images = join(base, LAUNCHER_VOLUMES.containerDisks.name);
    const guest = copyTestGuest(images);
    renameSync(guest.kernel, join(images, basename(KERNEL_IMAGE)));
    renameSync(guest.initrd, join(images, basename(INITRD_IMAGE)));
    const pod = new LauncherPod(base, options);
    try {
      await pod.ready();
      return pod;
    } catch (error) {
      await pod.dispose();
      throw new Error(`the launcher did not get ready:\n${pod.#output}`, { cause: error });
    }
  }

  async ready(): Promise<void> {
    await until('the command socket is there', () => existsSync(this.commandSocket), { timeoutMs: 30_000 });
  }

  get commandSocket(): string {
    return join(this.volume('sockets'), COMMAND_SOCKET);
  }

  /** Directory of one of the Pod's volumes, outside of it. */
  volume(volume: keyof typeof LAUNCHER_VOLUMES): string {
    return join(this.#base, LAUNCHER_VOLUMES[volume].name);
  }

  /** What the containers have written so far. */
  get output(): string {
    return this.#output;
  }

  get lastReport(): DomainReport {
    return JSON.parse(readFileSync(join(this.volume('state'), LAST_REPORT_FILE), 'utf8')) as DomainReport;
  }

  /** Pids of the Pod's processes whose command line contains the text. */
  processes(text: string): number[] {
    const init = this.#init;
    if (init === undefined) return [];
    const namespace = pidNamespace(init);
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pidNamespace(pid) === namespace && commandLine(pid).includes(text));
  }

  /** Ends one process of the Pod at once. */
  kill(text: string): void {
    const [pid, ...others] = this.processes(text);
    if (pid === undefined || others.length > 0)
      throw new Error(`"${text}" is not one process: ${[pid, ...others].join()}`);
    process.kill(pid, 'SIGKILL');
  }

  /** What the kubelet does when the Pod is deleted. */
  terminate(): void {
    if (this.#init !== undefined) process.kill(this.#init, 'SIGTERM');
  }

  /** Ends the Pod's first process, and with it, as its namespace's init, all others. */
  async dispose(): Promise<void> {
    const init = this.#init;
    if (init === undefined) this.#outer.kill('SIGKILL');
    else process.kill(init, 'SIGKILL');
    await this.exited;
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }

  get #init(): number | undefined {
    const { pid } = this.#outer;
    if (pid === undefined || this.#outer.exitCode !== null) return undefined;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return children === '' ? undefined : Number(children.split(' ')[0]);
  }

  #environment({ gracePeriodSeconds = 30 }: LauncherPodOptions): Record<string, string> {
    return {
      PATH: '/run/node/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: LAUNCHER_VOLUMES.libvirt.path,
      [LAUNCHER_ENV.namespace]: this.vmi.namespace,
      [LAUNCHER_ENV.name]: this.vmi.name,
      [LAUNCHER_ENV.uid]: this.vmi.uid,
      [LAUNCHER_ENV.podUid]: this.uid,
      [LAUNCHER_ENV.podName]: 'virt-launcher-guest-test',
      [LAUNCHER_ENV.gracePeriod]: String(gracePeriodSeconds),
    };
  }
}

function startScript(base: string, env: Record<string, string>, { network, kept }: LauncherPodOptions): string {
  const user = `launcher:x:${LAUNCHER_UID}:${LAUNCHER_UID}::${LAUNCHER_VOLUMES.libvirt.path}:/usr/sbin/nologin`;
  writeFileSync(join(base, 'passwd'), `root:x:0:0::/root:/bin/sh\n${user}\n`);
  const bind = (from: string, to: string): string => `mkdir -p ${to} && mount --bind ${from} ${to}`;
  const ids = `--reuid ${LAUNCHER_UID} --regid ${LAUNCHER_UID} --clear-groups --inh-caps=-all --bounding-set=-all`;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    'mount -t tmpfs -o mode=755 tmpfs /run',
    ...Object.values(LAUNCHER_VOLUMES).map(({ name, path }) => bind(join(base, name), path)),
    ...(kept === undefined ? [] : [bind(kept, VM_STATE.path)]),
    bind(REPOSITORY, '/run/virtflow'),
    bind(dirname(dirname(process.execPath)), '/run/node'),
    `mount --bind ${join(base, 'passwd')} /etc/passwd`,
    'ip link set lo up',
    ...(network === true ? networkCommands() : []),
    'cd /',
    `exec setpriv ${ids} --no-new-privs env -i ${variables.join(' ')} /run/virtflow/launcher/init/run`,
    '',
  ].join('\n');
}

const networkCommands = (): string[] => [
  'ip link add k6t-eth0 address 02:00:00:00:00:00 type bridge',
  'ip address add 10.0.2.1/24 dev k6t-eth0',
  `ip tuntap add dev tap0 mode tap user ${LAUNCHER_UID} vnet_hdr`,
  'ip link set tap0 master k6t-eth0 up',
  'ip link set k6t-eth0 up',
  'ip route replace 255.255.255.255/32 dev k6t-eth0',
  'echo 67 > /proc/sys/net/ipv4/ip_unprivileged_port_start',
];

function pidNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined; // It has ended.
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
