import { readFile } from 'node:fs/promises';
import { run } from './shell.ts';

/** Mount points at or below a directory from the text of /proc/self/mountinfo, the one mounted last first. */
export function mountsBelow(mountinfo: string, dir: string): string[] {
  const points = mountinfo.split('\n').map((line) => line.split(' ')[4] ?? '');
  const plain = points.map((point) =>
    point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
  );
  return plain.filter((point) => point === dir || point.startsWith(`${dir}/`)).reverse();
}

/** Unmounts everything below a directory of ours, for example what a build that was killed left mounted. */
export async function unmountBelow(dir: string): Promise<void> {
  for (const point of mountsBelow(await readFile('/proc/self/mountinfo', 'utf8'), dir)) await run(['umount', point]);
}
