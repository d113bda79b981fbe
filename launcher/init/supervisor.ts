import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { LAUNCHER_VOLUMES } from '../../api/launcher/paths.ts';

const run = promisify(execFile);

/** These paths are known to the scripts of the init too. */
const BASE = LAUNCHER_VOLUMES.libvirt.path;
const SCAN_DIRECTORY = `${BASE}/services`;
const EXIT_CODE_FILE = `${BASE}/exit-code`;
/** Written by the init at SIGTERM, before it passes the signal on. */
export const TERMINATED_FILE = `${BASE}/terminated`;

/** Whether the init runs libvirtd by itself, with what the image has prepared. */
export const libvirtdIsPrepared = (): boolean => !existsSync(`${SCAN_DIRECTORY}/libvirtd/down`);

/** Has the init run libvirtd from now on, and again whenever it ends. It runs already: nothing happens. */
export async function startLibvirtd(): Promise<void> {
  await run('s6-svc', ['-u', `${SCAN_DIRECTORY}/libvirtd`]);
}

/** Ends the Pod's main container with this exit code: the init stops its services, this process included, by SIGTERM. */
export async function stopInit(exitCode: number): Promise<void> {
  writeFileSync(EXIT_CODE_FILE, String(exitCode));
  await run('s6-svscanctl', ['-t', SCAN_DIRECTORY]);
  // Until the signal comes: an earlier end would look like a crash, to be repaired by a restart.
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
