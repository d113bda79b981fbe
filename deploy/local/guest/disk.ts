import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../shell.ts';
import { unpackDebian } from './packages.ts';

/** Kernel arguments of the test guest; all but the first two only spare time where guests run without KVM. */
const KERNEL_ARGUMENTS =
  'console=ttyS0 quiet nokaslr cryptomgr.notests mitigations=off lpj=4000000 tsc=reliable no_timer_check random.trust_cpu=on';

const MEBIBYTES = 32;
const SECTORS = MEBIBYTES * 2048;
/** A file by which a guest can tell this disk. */
const MARKER = 'virtflow-container-disk';

const configuration = `SERIAL 0 115200
DEFAULT guest
LABEL guest
  KERNEL vmlinuz
  INITRD initrd
  APPEND ${KERNEL_ARGUMENTS}
`;

/** Makes a raw disk that a BIOS boots the guest from: one FAT file system with a boot loader, kernel, initrd and the marker. */
export async function makeBootDisk(
  files: { kernel: string; initrd: string },
  scratch: string,
  image: string,
): Promise<void> {
  const tools = join(scratch, 'tools');
  await unpackDebian(['syslinux', 'mtools'], tools);
  // syslinux calls mtools by name.
  const env = { PATH: `${join(tools, 'usr/bin')}:${process.env['PATH']}`, MTOOLSRC: '/dev/null' };

  const content = { 'syslinux.cfg': configuration, [MARKER]: 'This file came with the image.\n' };
  for (const [name, text] of Object.entries(content)) await writeFile(join(scratch, name), text);
  await copyFile(files.kernel, join(scratch, 'vmlinuz'));
  await copyFile(files.initrd, join(scratch, 'initrd'));

  await run(['mformat', '-C', '-i', image, '-v', 'VIRTFLOW', '-T', String(SECTORS), '-h', '16', '-s', '63', '::'], {
    env,
  });
  const names = ['vmlinuz', 'initrd', ...Object.keys(content)].map((name) => join(scratch, name));
  await run(['mcopy', '-i', image, ...names, '::'], { env });
  await run(['syslinux', '--install', image], { env });
}
