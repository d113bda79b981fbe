import { existsSync, mkdirSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { LAUNCHER_ENV, LAUNCHER_VOLUMES, VM_STATE, VM_STATE_DIRECTORIES } from '../api/launcher/paths.ts';
import { installDaemon } from './daemon/install.ts';
import { daemonPaths } from './daemon/paths.ts';
import { libvirtdIsPrepared, startLibvirtd, stopInit } from './init/supervisor.ts';

/** libvirtd listens in the volume of the sockets: from the node, the path to the libvirt volume is too long for a socket address. */
const LIBVIRT_DIRECTORY = 'lv';

const daemon = daemonPaths(
  LAUNCHER_VOLUMES.libvirt.path,
  join(LAUNCHER_VOLUMES.sockets.path, LIBVIRT_DIRECTORY),
  existsSync(VM_STATE.path) ? VM_STATE_DIRECTORIES : undefined,
);

/** Most of the launcher is loaded while libvirtd starts. */
const loadLauncher = () => import('./launcher.ts');

if (process.argv.includes('--warm-up')) {
  const { loadConverter } = await loadLauncher();
  await loadConverter();
  flushCompileCache();
} else if (process.argv.includes('--prepare')) {
  installDaemon(daemon, undefined);
} else {
  for (const { path } of Object.values(LAUNCHER_VOLUMES)) mkdirSync(path, { recursive: true });
  const launcher = loadLauncher();
  if (!libvirtdIsPrepared()) {
    installDaemon(daemon, process.env[LAUNCHER_ENV.podUid] ?? '');
    await startLibvirtd();
  }
  const { runLauncher } = await launcher;
  const exitCode = await runLauncher(daemon, process.env);
  process.removeAllListeners('SIGTERM');
  await stopInit(exitCode);
}
