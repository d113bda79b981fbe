import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { execa } from 'execa';
import { cached } from '../cache.ts';
import type { Context } from '../context.ts';
import { sourcesKey } from '../images/sources.ts';
import { run } from '../shell.ts';
import { makeBootDisk } from './disk.ts';
import { loadOrder, parseModulesDep } from './modules.ts';
import { behindMetaPackage, unpackDebian } from './packages.ts';

/** The test guest: a Debian kernel and an initramfs of BusyBox and the real QEMU guest agent. Paths on this machine. */
export interface Guest {
  /** Folder that holds the three files, and nothing else. */
  readonly dir: string;
  readonly kernel: string;
  readonly initrd: string;
  /** A raw disk that boots the guest; its file system also holds the file `virtflow-container-disk`. */
  readonly disk: string;
}

/** What the guest is made of. */
const SOURCES = ['root', 'counter.c', 'build.ts', 'disk.ts', 'modules.ts', 'packages.ts'];

/** Loaded at every boot. */
const BOOT_MODULES = [
  'virtio_pci',
  'virtio_blk',
  'virtio_net',
  'virtio_console',
  'virtio-rng',
  'virtio_balloon',
  'button',
  'evdev',
];
/** Loaded when the guest has a disk. */
const DISK_MODULES = ['virtio_scsi', 'sr_mod', 'sd_mod', 'isofs', 'vfat', 'nls_cp437', 'nls_ascii'];

/** The agent's package and what its binary loads; besides them only BusyBox, which is static. */
const USERLAND = [
  'busybox-static',
  'qemu-guest-agent',
  'libc6',
  'libglib2.0-0',
  'libpcre2-8-0',
  'libnuma1',
  'liburing2',
  'libudev1',
];

const LOADER = 'lib64/ld-linux-x86-64.so.2';
const LIBRARY_DIRS = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu'];

/** Builds the test guest, or returns the one that was built from the same sources. About 10 s and 50 MB of downloads. */
export async function buildGuest(ctx: Context): Promise<Guest> {
  const dir = await cached(ctx, 'guest', await sourcesKey(import.meta.dirname, SOURCES), async (out) => {
    const scratch = await mkdtemp(join(tmpdir(), 'virtflow-guest-'));
    try {
      await build(ctx, scratch, out);
      await chmod(out, 0o755); // read by launchers, which are not root
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
  return { dir, kernel: join(dir, 'vmlinuz'), initrd: join(dir, 'initrd'), disk: join(dir, 'disk.img') };
}

async function build(ctx: Context, scratch: string, out: string): Promise<void> {
  const debian = join(scratch, 'debian');
  const root = join(scratch, 'root');
  ctx.report('downloading kernel, BusyBox and guest agent from Debian');
  await unpackDebian([...USERLAND, await behindMetaPackage('linux-image-cloud-amd64')], debian);

  ctx.report('putting the initramfs together');
  await cp(join(import.meta.dirname, 'root'), root, { recursive: true });
  for (const dir of ['proc', 'sys', 'dev', 'run', 'tmp', 'root', 'mnt', 'var/log', 'usr/sbin', 'usr/bin', 'etc/qemu']) {
    await mkdir(join(root, dir), { recursive: true });
  }
  await symlink('/run', join(root, 'var/run'));
  await installBusybox(join(debian, 'bin/busybox'), root);
  await installWithLibraries(debian, 'usr/sbin/qemu-ga', root);
  const version = await installModules(debian, root);
  await run(['cc', '-static', '-Os', '-s', '-o', join(root, 'sbin/counter'), join(import.meta.dirname, 'counter.c')]);

  await copyFile(join(debian, `boot/vmlinuz-${version}`), join(out, 'vmlinuz'));
  await writeFile(join(out, 'initrd'), await packInitramfs(join(debian, 'bin/busybox'), root));
  const boot = join(scratch, 'boot');
  await mkdir(boot);
  await makeBootDisk({ kernel: join(out, 'vmlinuz'), initrd: join(out, 'initrd') }, boot, join(out, 'disk.img'));
}

async function installBusybox(binary: string, root: string): Promise<void> {
  await copyFile(binary, join(root, 'bin/busybox'));
  const applets = (await run([binary, '--list-full'])).split('\n');
  for (const applet of applets.filter((path) => path !== 'bin/busybox')) {
    const link = join(root, applet);
    await mkdir(dirname(link), { recursive: true });
    // Our own commands (shutdown is none of BusyBox's) win.
    await symlink('/bin/busybox', link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Copies a program and the libraries that the loader says it needs. */
async function installWithLibraries(from: string, program: string, root: string): Promise<void> {
  const directories = LIBRARY_DIRS.map((dir) => join(from, dir)).join(':');
  const listed = await run([join(from, LOADER), '--library-path', directories, '--list', join(from, program)]);
  const libraries = [...listed.matchAll(/=> (\S+)/g)].map(([, path]) => path ?? '').filter((path) => path !== '');
  await mkdir(join(root, 'lib64'), { recursive: true });
  await mkdir(join(root, 'lib/x86_64-linux-gnu'), { recursive: true });
  for (const library of libraries) await copyFile(library, join(root, 'lib/x86_64-linux-gnu', basename(library)));
  await copyFile(join(from, LOADER), join(root, LOADER));
  await copyFile(join(from, program), join(root, program));
}

/** Copies the modules flat into /lib/modules, writes the lists that /init and /etc/rc load. Returns the kernel's version. */
async function installModules(debian: string, root: string): Promise<string> {
  const [version] = await readdir(join(debian, 'lib/modules'));
  if (version === undefined) throw new Error('the kernel package holds no modules');
  await run([join(debian, 'bin/busybox'), 'depmod', '-b', debian, version]);
  const source = join(debian, 'lib/modules', version);
  const dependencies = parseModulesDep(await readFile(join(source, 'modules.dep'), 'utf8'));

  const boot = loadOrder(dependencies, BOOT_MODULES);
  const disks = loadOrder(dependencies, DISK_MODULES).filter((path) => !boot.includes(path));
  await mkdir(join(root, 'lib/modules'), { recursive: true });
  for (const path of [...boot, ...disks]) await copyFile(join(source, path), join(root, 'lib/modules', basename(path)));
  await writeFile(join(root, 'etc/modules.boot'), boot.map((path) => `${basename(path)}\n`).join(''));
  await writeFile(join(root, 'etc/modules.disks'), disks.map((path) => `${basename(path)}\n`).join(''));
  return version;
}

async function packInitramfs(busybox: string, root: string): Promise<Buffer> {
  const files = (await run(['find', '.'], { cwd: root })).split('\n').sort().join('\n');
  const { stdout } = await execa(busybox, ['cpio', '-o', '-H', 'newc', '-R', '0:0'], {
    cwd: root,
    input: files,
    encoding: 'buffer',
  });
  return promisify(zstdCompress)(stdout);
}
