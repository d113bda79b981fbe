import { cpSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the image's build found out about its QEMU, laid out like libvirt's cache directory. */
export const SEEDED_CACHE = '/usr/lib/virtflow/libvirt-cache';

const LIBVIRTD = '/usr/sbin/libvirtd';
const QEMU = '/usr/bin/qemu-system-x86_64';
const QEMU_MODULES = '/usr/lib/x86_64-linux-gnu/qemu';
/** Where Debian puts libvirt's drivers. */
export const DRIVERS = '/usr/lib/x86_64-linux-gnu/libvirt/connection-driver';
const CAPABILITIES = join('libvirt', 'qemu', 'cache', 'capabilities');

/**
 * Gives libvirt the capabilities of QEMU that were probed when the image was built: probing takes 4 s. libvirt trusts them only for programs with the
 * change times that they name, and unpacking the image on a node sets new ones. An unfit file costs the 4 s and nothing else.
 */
export function seedCapabilities(cache: string): void {
  const target = join(cache, CAPABILITIES);
  if (!existsSync(SEEDED_CACHE) || existsSync(target)) return;
  cpSync(SEEDED_CACHE, cache, { recursive: true });
  if (!existsSync(target)) return;
  for (const name of readdirSync(target)) {
    const file = join(target, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, withTimes(text, programTimes()));
  }
}

/** Times in seconds since 1970, as libvirt compares them. */
export interface ProgramTimes {
  /** Change of libvirtd and its drivers: the latest. */
  readonly libvirt: number;
  /** Change of the emulator. */
  readonly qemu: number;
  /** Modification of the directory of QEMU's modules. */
  readonly modules: number;
}

/** The file with the times of the programs of this image put in. */
export function withTimes(text: string, times: ProgramTimes): string {
  const values = { selfctime: times.libvirt, qemuctime: times.qemu, qemumoddirmtime: times.modules };
  return Object.entries(values).reduce(
    (result, [name, value]) => result.replace(new RegExp(`<${name}>\\d+</${name}>`), `<${name}>${value}</${name}>`),
    text,
  );
}

const programTimes = (): ProgramTimes => ({
  libvirt: Math.max(...[LIBVIRTD, ...driverFiles()].map(changeTime)),
  qemu: changeTime(QEMU),
  modules: seconds(statSync(QEMU_MODULES).mtimeMs),
});

const driverFiles = (): string[] =>
  existsSync(DRIVERS) ? readdirSync(DRIVERS).map((name) => join(DRIVERS, name)) : [];

const changeTime = (file: string): number => seconds(statSync(file).ctimeMs);
const seconds = (ms: number): number => Math.floor(ms / 1000);
