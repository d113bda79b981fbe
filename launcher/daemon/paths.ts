import { join } from 'node:path';
import type { VM_STATE_DIRECTORIES } from '../../api/launcher/paths.ts';

/** Where a private libvirtd keeps its things: below one directory, which is short (a unix socket's path has at most 107 bytes). */
export interface DaemonPaths {
  readonly base: string;
  readonly runtime: string;
  readonly configuration: string;
  readonly cache: string;
  /** The drivers that libvirtd shall load. */
  readonly drivers: string;
  /** Directory of its sockets. */
  readonly sockets: string;
  readonly socket: string;
  readonly pidFile: string;
  /** What signs the certificates of the guest's TPM. */
  readonly tpmAuthority: string;
  /** Directories of what the guest keeps, if it keeps anything. */
  readonly kept?: typeof VM_STATE_DIRECTORIES;
}

/**
 * @param sockets where libvirtd shall listen; absent: where its clients look by themselves
 * @param kept where the guest's state lies that outlives the Pod
 */
export function daemonPaths(base: string, sockets?: string, kept?: typeof VM_STATE_DIRECTORIES): DaemonPaths {
  const runtime = join(base, 'run');
  const directory = sockets ?? defaultSockets(runtime);
  return {
    base,
    runtime,
    configuration: join(base, 'config', 'libvirt'),
    cache: join(base, 'cache'),
    drivers: join(base, 'drivers'),
    sockets: directory,
    socket: join(directory, SOCKET),
    pidFile: join(runtime, 'libvirtd.pid'),
    tpmAuthority: kept?.tpmAuthority ?? join(base, 'swtpm-localca'),
    ...(kept === undefined ? {} : { kept }),
  };
}

export const SOCKET = 'libvirt-sock';

/** Where clients such as virsh look for the socket of their user's libvirtd. */
export const defaultSockets = (runtime: string): string => join(runtime, 'libvirt');

/** The environment libvirtd runs in: nothing of ours leaks into it or into QEMU. */
export function daemonEnvironment(paths: DaemonPaths): Record<string, string> {
  return {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: paths.base,
    XDG_RUNTIME_DIR: paths.runtime,
    XDG_CONFIG_HOME: join(paths.base, 'config'),
    XDG_CACHE_HOME: paths.cache,
    XDG_DATA_HOME: join(paths.base, 'data'),
    XDG_STATE_HOME: join(paths.base, 'state'),
    LIBVIRT_DRIVER_DIR: paths.drivers,
  };
}
