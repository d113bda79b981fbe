import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { INITRD_IMAGE, KERNEL_IMAGE, SERIAL_LOG, TAP_DEVICE, volumeDirectory } from '../../api/launcher/paths.ts';
import type { PodProcess } from '../../deploy/local/pod-processes.ts';
import { giveToUnprivileged, startPrivateLibvirtd } from '../support/libvirtd.ts';
import type { PrivateLibvirtd } from '../support/libvirtd.ts';
import { copyTestGuest } from '../support/test-guest.ts';

/** Debian's own user for QEMU, as which the private libvirtds run. */
const QEMU_USER = 'libvirt-qemu';

/** Name of the domain, in the form that launchers use, so that observers find its QEMU. */
export const RAW = { namespace: 'raw', name: 'bench' };
const DOMAIN = `${RAW.namespace}_${RAW.name}`;

/** A libvirtd without virtflow, and the domain of a VM on it: what virtflow is measured against. */
export class RawHost {
  readonly #daemon: PrivateLibvirtd;
  readonly #files: RawFiles;
  readonly #tap: string;

  private constructor(daemon: PrivateLibvirtd, files: RawFiles, tap: string) {
    this.#daemon = daemon;
    this.#files = files;
    this.#tap = tap;
  }

  /** Everything but the start of libvirtd itself is made before. @param tap name of its network device, at most 15 characters */
  static async create(files: RawFiles, tap: string): Promise<RawHost> {
    const daemon = await startPrivateLibvirtd();
    removeTap(tap);
    execFileSync('ip', ['tuntap', 'add', 'dev', tap, 'mode', 'tap', 'user', QEMU_USER]);
    return new RawHost(daemon, files, tap);
  }

  /** Starts libvirtd, defines the domain and starts it, as a person would; ms. */
  async start(xml: string): Promise<number> {
    await this.#daemon.kill();
    const file = this.#write('domain.xml', this.localise(xml));
    const began = performance.now();
    await this.#daemon.start();
    await this.virsh('define', file);
    await this.virsh('start', DOMAIN);
    return performance.now() - began;
  }

  /** Moves the running domain to another host, peer to peer over unix sockets; ms. */
  async migrate(to: RawHost): Promise<number> {
    const live = await this.virsh('dumpxml', DOMAIN, '--migratable');
    const there = live
      .replaceAll(`${this.#daemon.paths.base}/`, `${to.#daemon.paths.base}/`)
      .replaceAll(`'${this.#tap}'`, `'${to.#tap}'`);
    to.#makeDirectories(there);
    // QEMU would write on behind what an earlier guest of this host has said.
    rmSync(to.#console(), { force: true });
    const target = to.#write('target.xml', there);
    const socket = join(to.#daemon.paths.base, 'migration.sock');
    rmSync(socket, { force: true });
    const began = performance.now();
    await this.virsh(
      ...['migrate', DOMAIN, '--live', '--p2p', '--persistent', '--undefinesource', '--unsafe'],
      ...['--xml', target, '--persistent-xml', target],
      ...['--desturi', to.uri, '--migrateuri', `unix://${socket}`],
    );
    return performance.now() - began;
  }

  /** Ends the domain and forgets it. */
  async remove(): Promise<void> {
    await this.virsh('destroy', DOMAIN);
    await this.virsh('undefine', DOMAIN);
  }

  /** Where the guest's console is logged here; undefined: it is another host's. */
  serialLog(qemu: PodProcess): string | undefined {
    return qemu.command.includes(`${this.#daemon.paths.base}/`) ? this.#console() : undefined;
  }

  #console(): string {
    return join(this.#daemon.paths.base, 'pod', SERIAL_LOG.replace(/^\/(var\/)?run\//, ''));
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.#daemon.socketPath}`;
  }

  async virsh(...args: string[]): Promise<string> {
    return (await execa('virsh', ['-q', '-c', this.uri, ...args])).stdout;
  }

  /** The launcher's XML with this host's files in the place of the Pod's. */
  localise(xml: string): string {
    const base = this.#daemon.paths.base;
    const local = xml
      .replace(/<name>[^<]+<\/name>/, `<name>${RAW.namespace}_${RAW.name}</name>`)
      .replaceAll(KERNEL_IMAGE, this.#files.kernel)
      .replaceAll(INITRD_IMAGE, this.#files.initrd)
      .replaceAll(`${volumeDirectory('data')}/disk.img`, this.#files.disk)
      .replaceAll(`'${TAP_DEVICE}'`, `'${this.#tap}'`)
      .replaceAll(/(['"])\/(?:var\/)?run\//g, `$1${base}/pod/`);
    this.#makeDirectories(local);
    return local;
  }

  #makeDirectories(xml: string): void {
    for (const [, path = ''] of xml.matchAll(/['"]([^'"]+\/pod\/[^'"]+)['"]/g))
      mkdirSync(dirname(path), { recursive: true });
    giveToUnprivileged(join(this.#daemon.paths.base, 'pod'));
  }

  async dispose(): Promise<void> {
    await this.#daemon.dispose();
    removeTap(this.#tap);
  }

  #write(name: string, text: string): string {
    const file = join(this.#daemon.paths.base, name);
    writeFileSync(file, text);
    giveToUnprivileged(file);
    return file;
  }
}

/** Kernel, initrd and disk that both hosts see. */
export interface RawFiles {
  directory: string;
  kernel: string;
  initrd: string;
  disk: string;
}

export function makeRawFiles(diskBytes: number): RawFiles {
  const directory = mkdtempSync(join(tmpdir(), 'vf-raw-'));
  const guest = copyTestGuest(directory);
  const disk = join(directory, 'disk.img');
  const file = openSync(disk, 'w');
  ftruncateSync(file, diskBytes);
  closeSync(file);
  giveToUnprivileged(directory);
  return { directory, ...guest, disk };
}

export const removeRawFiles = ({ directory }: RawFiles): void => rmSync(directory, { recursive: true, force: true });

const removeTap = (tap: string): void => {
  try {
    execFileSync('ip', ['link', 'delete', tap], { stdio: 'ignore' });
  } catch {
    // There is none.
  }
};
