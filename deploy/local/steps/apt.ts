import { readdir, readFile } from 'node:fs/promises';
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
  'e2fsprogs',
] as const;

/** What the tests run outside of any container: a libvirtd with QEMU, a launcher with its init, a guest's network, and a user's tools. */
const testTools = [
  'libvirt-clients',
  'libvirt-daemon',
  'libvirt-daemon-driver-qemu',
  'ovmf',
  'qemu-system-x86',
  'qemu-utils',
  's6',
  'swtpm',
  'swtpm-tools',
  'xorriso',
  'busybox-static',
  'ethtool',
  'iputils-ping',
  'chromium',
  'curl',
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

/** Whether apt knows any package: a fresh system or image may come without lists. */
const hasLists = async (): Promise<boolean> =>
  (await readdir('/var/lib/apt/lists').catch(() => [])).some(
    (name) => name.endsWith('_Packages') || name.includes('_Packages.'),
  );

/** Fetches apt's lists anew. */
export async function updateLists(ctx: Context): Promise<void> {
  await run(['apt-get', 'update'], { onLine: ctx.report });
}

/** Installs those of the packages that are not there. */
export async function ensurePackages(ctx: Context, names: readonly string[]): Promise<void> {
  if (!(await hasLists())) await updateLists(ctx);
  const wanted = await missing(names);
  if (wanted.length === 0) return;
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...wanted];
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const attempt = (): Promise<string> => run(install, { env, onLine: ctx.report });
  await attempt().catch(async () => {
    await updateLists(ctx); // old lists name versions that the mirror no longer has
    await attempt();
  });
}

const aptStep = (title: string, names: readonly string[]): Step => ({
  title,
  skip: async () => ((await hasLists()) && (await missing(names)).length === 0 ? 'installed' : undefined),
  run: (ctx) => ensurePackages(ctx, names),
  remedy: 'try apt-get update and apt-get -f install by hand, then run this again',
});

export const aptPackages = aptStep('Install Debian packages: containerd, CNI plugins, nftables, …', clusterPackages);
export const testPackages = aptStep('Install Debian packages for the tests: libvirt, QEMU, s6, …', testTools);
