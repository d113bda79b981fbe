import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../shell.ts';

/** Unpacks Debian packages into a folder, without installing anything. @throws Error when apt knows no such package */
export async function unpackDebian(names: readonly string[], into: string): Promise<void> {
  const downloads = await mkdtemp(join(tmpdir(), 'virtflow-debs-'));
  try {
    await run(['apt-get', '-o', 'APT::Sandbox::User=root', '-qq', 'download', ...names], { cwd: downloads });
    for (const file of await readdir(downloads)) await run(['dpkg-deb', '-x', join(downloads, file), into]);
  } finally {
    await rm(downloads, { recursive: true, force: true });
  }
}

/** The package that a meta-package such as linux-image-cloud-amd64 stands for. @throws Error when apt does not know it */
export async function behindMetaPackage(name: string): Promise<string> {
  const depends = await run(['apt-cache', 'depends', '--important', name]);
  const real = /^\s*Depends: (\S+)$/m.exec(depends)?.[1];
  if (real === undefined) throw new Error(`apt does not know ${name}: run apt-get update and try again`);
  return real;
}
