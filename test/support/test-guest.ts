import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Kernel and initrd of the test guest: a small Linux with a guest agent. */
export interface GuestFiles {
  readonly kernel: string;
  readonly initrd: string;
}

/** Halves the processor time of a boot without KVM. */
export const FAST_BOOT =
  'console=ttyS0 quiet nokaslr cryptomgr.notests mitigations=off lpj=4000000 tsc=reliable no_timer_check random.trust_cpu=on';

/**
 * Copies the built guest to a directory that QEMU's user can read.
 * @throws Error with the remedy when it has not been built
 */
export function copyTestGuest(directory: string): GuestFiles {
  const source = builtGuest();
  mkdirSync(directory, { recursive: true });
  const files = { kernel: join(directory, 'vmlinuz'), initrd: join(directory, 'initrd') };
  copyFileSync(join(source, 'vmlinuz'), files.kernel);
  copyFileSync(join(source, 'initrd'), files.initrd);
  return files;
}

/** A disk image with an ext4 file system that holds the file `virtflow-container-disk`. */
export const testGuestDisk = (): string => join(builtGuest(), 'disk.img');

/** The newest build: `VIRTFLOW_TEST_GUEST`, or what the local set-up cached. */
function builtGuest(): string {
  const named = process.env['VIRTFLOW_TEST_GUEST'];
  if (named !== undefined) return named;
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'virtflow');
  const builds = existsSync(cache)
    ? readdirSync(cache)
        .filter((name) => name.startsWith('guest-') && existsSync(join(cache, name, 'initrd')))
        .map((name) => join(cache, name))
        .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
    : [];
  const newest = builds[0];
  if (newest === undefined)
    throw new Error(`no test guest in ${cache}: build it with ./dev test, or set VIRTFLOW_TEST_GUEST`);
  return newest;
}
