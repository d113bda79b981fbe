import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../cache.ts';
import type { Context } from '../context.ts';
import { ensureFile } from '../files.ts';
import { run, succeeds } from '../shell.ts';
import { hostAddress } from './addresses.ts';
import type { NodeSpec } from './addresses.ts';
import { cniConfig, containerdConfig, kubeletConfig, onNode, proxyConfig } from './configs.ts';
import { kubeconfig } from './kubeconfig.ts';
import { networkNamespaceFile } from './network.ts';
import { certFile, keyFile } from './pki.ts';

/** Mount namespaces are kept alive by files below this directory, which is a private mount so that it can hold them. */
const keep = '/run/virtflow';
const mountNamespaceFile = (node: NodeSpec): string => `${keep}/${node.name}`;

const nodeDir = (ctx: Context, node: NodeSpec): string => join(ctx.stateDir, 'nodes', node.name);

/** Where a path of a node is on this machine: /var is the node's own; /etc and /opt are laid over the machine's. */
export const pathOnMachine = (ctx: Context, node: NodeSpec, path: string): string => join(nodeDir(ctx, node), path);

/** A directory that is the same on every node: for volumes that move between them. */
const shared = '/var/lib/virtflow-shared';
const sharedDir = (ctx: Context): string => join(ctx.stateDir, 'shared');

/** Put before a command to run it on a node: in its network and with its files. */
export const enterNode = (node: NodeSpec): string[] => [
  'nsenter',
  `--net=${networkNamespaceFile(node)}`,
  `--mount=${mountNamespaceFile(node)}`,
];

/**
 * Gives a node its own view of the file system, so that two nodes on one machine look like any nodes to kubelet,
 * containerd and DaemonSets: /var (with /var/lib/kubelet) and /run are the node's own, /etc and /opt are the
 * machine's with the node's changes on top, the rest is the machine's. Made once; it lasts until `removeNodeFiles`.
 */
export async function ensureNodeFiles(ctx: Context, node: NodeSpec, bin: string): Promise<void> {
  await writeConfigs(ctx, node);
  if (await isWhole(node)) return;
  await dropNamespace(node);
  if (!(await succeeds(['mountpoint', '-q', keep]))) {
    await mkdir(keep, { recursive: true });
    await run(['mount', '--bind', keep, keep]);
    await run(['mount', '--make-private', keep]);
  }
  await ensureFile(mountNamespaceFile(node), '');
  const unshare = ['unshare', `--mount=${mountNamespaceFile(node)}`, '--propagation', 'private'];
  await run([...unshare, 'sh', '-euc', mountScript, 'sh', nodeDir(ctx, node), bin, sharedDir(ctx)]);
}

/** Written last into the node's /run: without it the view is half-made. */
const whole = '/run/virtflow-whole';
const isWhole = (node: NodeSpec): Promise<boolean> => succeeds([...enterNode(node), 'test', '-e', whole]);

/** Everything is mounted while all is private, and made shared at the end: so each mount propagates only to containers. */
const mountScript = `
node=$1 bin=$2 shared=$3
for dir in etc opt; do
  mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$node/$dir,workdir=$node/.work/$dir" "/$dir"
done
mount --bind "$bin" /opt/virtflow/bin
mount --bind "$shared" "$node${shared}"
mount --rbind "$node/var" /var
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/lock /run/netns
mount --make-rshared /
touch ${whole}
`;

async function writeConfigs(ctx: Context, node: NodeSpec): Promise<void> {
  const at = (path: string): string => pathOnMachine(ctx, node, path);
  const directories = [
    '/var/lib',
    '/var/log',
    '/var/cache',
    '/var/tmp',
    shared,
    onNode.bin,
    '/etc',
    '/.work/etc',
    '/.work/opt',
  ];
  for (const directory of directories) await mkdir(at(directory), { recursive: true });
  await mkdir(sharedDir(ctx), { recursive: true });
  if (!(await exists(at('/var/run')))) await symlink('/run', at('/var/run')).catch(() => {});
  await ensureFile(at(onNode.containerdConfig), containerdConfig());
  await ensureFile(at(onNode.cniConfig), cniConfig(node));
  await ensureFile(at(onNode.kubeletConfig), kubeletConfig(node));
  await ensureFile(at(onNode.kubeletKubeconfig), await kubeconfig(ctx, node.name), 0o600);
  await ensureFile(at(onNode.kubeletCert), await readFile(certFile(ctx, node.name), 'utf8'));
  await ensureFile(at(onNode.kubeletKey), await readFile(keyFile(ctx, node.name), 'utf8'), 0o600);
  await ensureFile(at(onNode.clusterCa), await readFile(certFile(ctx, 'ca'), 'utf8'));
  await ensureFile(at(onNode.resolvConf), `nameserver ${hostAddress}\n`);
  await ensureFile(at(onNode.proxyConfig), proxyConfig(node));
  await ensureFile(at(onNode.proxyKubeconfig), await kubeconfig(ctx, 'kube-proxy'), 0o600);
}

async function dropNamespace(node: NodeSpec): Promise<void> {
  await succeeds(['umount', mountNamespaceFile(node)]);
}

/** Drops the nodes' views and with them every mount made there. Their processes must have ended. */
export async function removeNodeFiles(nodes: readonly NodeSpec[]): Promise<void> {
  for (const node of nodes) await dropNamespace(node);
  if (!(await exists(keep))) return;
  await succeeds(['umount', keep]);
  await run(['rm', '-rf', '--one-file-system', keep]);
}
