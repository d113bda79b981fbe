import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { seedCapabilities } from './capabilities.ts';
import { libvirtdConfiguration, qemuConfiguration } from './configuration.ts';
import { SOCKET, daemonEnvironment, defaultSockets } from './paths.ts';
import type { DaemonPaths } from './paths.ts';
import { swtpmFiles } from './swtpm.ts';

/** Where Debian puts libvirt's drivers. */
const DRIVERS = '/usr/lib/x86_64-linux-gnu/libvirt/connection-driver';
const QEMU_DRIVER = 'libvirt_driver_qemu.so';

/** Directory with libvirtd's environment, one file per variable, as s6-envdir reads it. */
export const environmentDirectory = (paths: DaemonPaths): string => join(paths.base, 'environment');

/**
 * Writes what libvirtd needs before it starts; what is there already stays, since a running libvirtd may have read it.
 * @param hostUuid identifies this launcher as a host; undefined at the image's build: the init adds it
 */
export function installDaemon(paths: DaemonPaths, hostUuid: string | undefined): void {
  const environment = environmentDirectory(paths);
  for (const directory of [
    paths.runtime,
    paths.configuration,
    paths.cache,
    paths.drivers,
    paths.sockets,
    environment,
  ]) {
    mkdirSync(directory, { recursive: true });
  }
  chmodSync(paths.runtime, 0o700);
  chmodSync(paths.sockets, 0o700);
  seedCapabilities(paths.cache);
  linkDriver(paths);
  linkSocket(paths);
  writeIfMissing(join(paths.configuration, 'libvirtd.conf'), libvirtdConfiguration(hostUuid, paths.sockets));
  writeIfMissing(join(paths.configuration, 'qemu.conf'), qemuConfiguration());
  mkdirSync(paths.tpmAuthority, { recursive: true });
  linkKept(paths);
  for (const [file, text] of Object.entries(swtpmFiles(dirname(paths.configuration), paths.tpmAuthority)))
    writeIfMissing(file, text);
  for (const [name, value] of Object.entries(daemonEnvironment(paths))) writeIfMissing(join(environment, name), value);
}

/** Of libvirt's drivers only QEMU's: the others cost time and complain of what a Pod does not have. */
function linkDriver(paths: DaemonPaths): void {
  const link = join(paths.drivers, QEMU_DRIVER);
  if (!existsSync(link)) symlinkSync(join(DRIVERS, QEMU_DRIVER), link);
}

/** libvirt keeps the TPM's state below its configuration, wherever that leads. */
function linkKept({ configuration, kept }: DaemonPaths): void {
  if (kept === undefined) return;
  for (const directory of Object.values(kept)) mkdirSync(directory, { recursive: true });
  const link = join(configuration, 'qemu', 'swtpm');
  mkdirSync(dirname(link), { recursive: true });
  if (!existsSync(link)) symlinkSync(kept.tpm, link);
}

/** People who look around in a Pod find libvirtd by the usual path too. */
function linkSocket({ runtime, sockets, socket }: DaemonPaths): void {
  const directory = defaultSockets(runtime);
  if (directory === sockets) return;
  mkdirSync(directory, { recursive: true });
  const link = join(directory, SOCKET);
  rmSync(link, { force: true });
  symlinkSync(socket, link);
}

function writeIfMissing(file: string, text: string): void {
  if (!existsSync(file)) writeFileSync(file, text);
}
