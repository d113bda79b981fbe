import { readFile } from 'node:fs/promises';
import type { Context, Step } from '../context.ts';
import { run } from '../shell.ts';

/** Debian packages of the cluster; those that build the images and the guest are listed where these are built. */
export const clusterPackages = [
  'containerd',
  'runc',
  'containernetworking-plugins',
  'iproute2',
  'nftables',
  'conntrack',
  'openssl',
  'procps',
] as const;

/** The installed packages named in dpkg's status file. */
export function installedPackages(status: string): Set<string> {
  const stanzas = status.split('\n\n');
  const installed = stanzas.filter((stanza) => /^Status: \S+ ok installed$/m.test(stanza));
  return new Set(installed.map((stanza) => /^Package: (\S+)$/m.exec(stanza)?.[1] ?? ''));
}

async function missing(names: readonly string[]): Promise<string[]> {
  const installed = installedPackages(await readFile('/var/lib/dpkg/status', 'utf8'));
  return names.filter((name) => !installed.has(name));
}

/** Installs those of the packages that are not there. */
export async function ensurePackages(ctx: Context, names: readonly string[]): Promise<void> {
  const wanted = await missing(names);
  if (wanted.length === 0) return;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...wanted];
  const attempt = (): Promise<string> => run(install, { env, onLine: ctx.report });
  await attempt().catch(async () => {
    await run(['apt-get', 'update'], { onLine: ctx.report }); // the lists may be old or not there at all
    await attempt();
  });
}

export const aptPackages: Step = {
  title: 'Install Debian packages (containerd, CNI plugins, nftables, …)',
  skip: async () => ((await missing(clusterPackages)).length === 0 ? 'installed' : undefined),
  run: (ctx) => ensurePackages(ctx, clusterPackages),
  remedy: 'try apt-get update and apt-get -f install by hand, then run this again',
};
