import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';

const SCRIPT = join(import.meta.dirname, '../../../../launcher/init/date-capabilities.sh');
const DRIVERS = '/usr/lib/x86_64-linux-gnu/libvirt/connection-driver';

let cache: string;
beforeEach(async () => void (cache = await mkdtemp(join(tmpdir(), 'capabilities-'))));
afterEach(() => rm(cache, { recursive: true }));

const dateCapabilities = () => execa('sh', ['-euc', `. ${SCRIPT}; date_capabilities "$1"`, 'sh', cache]);

const changed = async (file: string): Promise<number> => Math.floor((await stat(file)).ctimeMs / 1000);

test('the times in seeded capabilities become those of the programs that are here', async () => {
  const directory = join(cache, 'libvirt/qemu/cache/capabilities');
  await mkdir(directory, { recursive: true });
  const file = join(directory, 'qemu.xml');
  const of = (qemu: number, modules: number, libvirt: number): string =>
    `<qemuCaps>\n<qemuctime>${qemu}</qemuctime>\n<qemumoddirmtime>${modules}</qemumoddirmtime>\n` +
    `<selfctime>${libvirt}</selfctime>\n<selfvers>9</selfvers>\n</qemuCaps>\n`;
  await writeFile(file, of(1, 2, 3));
  await dateCapabilities();
  const drivers = (await readdir(DRIVERS)).map((name) => join(DRIVERS, name));
  const libvirt = Math.max(...(await Promise.all(['/usr/sbin/libvirtd', ...drivers].map(changed))));
  const modules = Math.floor((await stat('/usr/lib/x86_64-linux-gnu/qemu')).mtimeMs / 1000);
  const qemu = await changed('/usr/bin/qemu-system-x86_64');
  expect(await readFile(file, 'utf8')).toBe(of(qemu, modules, libvirt));
});

test('without seeded capabilities there is nothing to date', async () => {
  await dateCapabilities();
  expect(await readdir(cache)).toEqual([]);
});
