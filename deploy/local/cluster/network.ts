import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../cache.ts';
import type { Context } from '../context.ts';
import { ensureFile } from '../files.ts';
import { run, succeeds } from '../shell.ts';
import { bridge, clusterNetwork, hostAddress, nodes, podNetwork, serviceNetwork, temporalHost } from './addresses.ts';
import type { HostSpec, NodeSpec } from './addresses.ts';

const namespace = ({ name }: HostSpec): string => `virtflow-${name}`;
export const networkNamespaceFile = (host: HostSpec): string => `/run/netns/${namespace(host)}`;

const ip = (...args: string[]): Promise<string> => run(['ip', ...args]);

/** Pods reach what the machine reaches: the one nftables table of ours on the machine itself. */
const nftTable = 'virtflow-local';
const masquerade = `
table ip ${nftTable}
delete table ip ${nftTable}
table ip ${nftTable} {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr { ${clusterNetwork}, ${podNetwork} } oifname != "${bridge}" masquerade
  }
}
`;

const forwarding = '/proc/sys/net/ipv4/ip_forward';
const forwardingBefore = (ctx: Context): string => join(ctx.stateDir, 'ip_forward.before');

/** Whether the cluster's network exists on this machine. */
export const bridgeIsThere = (): boolean => existsSync(`/sys/class/net/${bridge}`);

/** The bridge, a network namespace per node, and the routes between all of them. Safe to run on what is half there. */
export async function ensureNetwork(ctx: Context): Promise<void> {
  if (!bridgeIsThere()) await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('address', 'replace', `${hostAddress}/24`, 'dev', bridge);
  await ip('link', 'set', bridge, 'up');
  if (!(await exists(forwardingBefore(ctx))))
    await ensureFile(forwardingBefore(ctx), await readFile(forwarding, 'utf8'));
  await writeFile(forwarding, '1');
  await run(['nft', '-f', '-'], { input: masquerade });
  for (const host of [temporalHost, ...nodes]) await ensureHostNetwork(host);
  for (const node of nodes) await ensureNodeRoutes(node);
  // Services from the machine itself: the first node translates and, since we are no Pod, masquerades.
  await ip('route', 'replace', serviceNetwork, 'via', nodes[0]?.address ?? '');
}

async function ensureHostNetwork(host: HostSpec): Promise<void> {
  const name = namespace(host);
  const veth = `vf-${host.name}`;
  const inside = (...args: string[]): Promise<string> => ip('-n', name, ...args);
  if (!(await succeeds(['ip', '-n', name, 'link', 'show', 'eth0']))) {
    await removeHostNetwork(host);
    await ip('netns', 'add', name);
    await ip('link', 'add', veth, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  }
  await ip('link', 'set', veth, 'master', bridge, 'up');
  await inside('address', 'replace', `${host.address}/24`, 'dev', 'eth0');
  await inside('link', 'set', 'lo', 'up');
  await inside('link', 'set', 'eth0', 'up');
  await inside('route', 'replace', 'default', 'via', hostAddress);
}

async function ensureNodeRoutes(node: NodeSpec): Promise<void> {
  await ip('route', 'replace', node.podRange, 'via', node.address);
  for (const other of nodes) {
    if (other !== node) await ip('-n', namespace(node), 'route', 'replace', other.podRange, 'via', other.address);
  }
  await run(['nsenter', `--net=${networkNamespaceFile(node)}`, 'sh', '-c', `echo 1 > ${forwarding}`]);
}

async function removeHostNetwork(host: HostSpec): Promise<void> {
  await succeeds(['ip', 'link', 'delete', `vf-${host.name}`]);
  await succeeds(['ip', 'netns', 'delete', namespace(host)]);
}

/** Takes all of it away; what is not there is no matter. The kernel drops the routes with the bridge. */
export async function removeNetwork(ctx: Context): Promise<void> {
  for (const host of [temporalHost, ...nodes]) await removeHostNetwork(host);
  await removeEmptyNamespaceDirectory();
  await succeeds(['ip', 'link', 'delete', bridge]);
  await succeeds(['nft', 'delete', 'table', 'ip', nftTable]);
  const before = await readFile(forwardingBefore(ctx), 'utf8').catch(() => undefined);
  if (before === undefined) return;
  await writeFile(forwarding, before);
  await rm(forwardingBefore(ctx));
}

/** `ip netns add` makes /run/netns a mount when it is not yet one; the last namespace gone, it holds nothing. */
async function removeEmptyNamespaceDirectory(): Promise<void> {
  const entries = await readdir('/run/netns').catch(() => undefined);
  if (entries?.length !== 0) return;
  await succeeds(['umount', '/run/netns']);
  await succeeds(['rmdir', '/run/netns']);
}
