import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { ensureFile } from '../files.ts';
import { ensureNodeCgroup } from '../cgroup.ts';
import { ensureRestarted, ensureRunning } from '../process.ts';
import type { ProcessSpec } from '../process.ts';
import { run } from '../shell.ts';
import { kubernetesBin } from '../steps/kubernetes.ts';
import { pauseArchive } from '../steps/pause.ts';
import { until } from '../wait.ts';
import { nodes } from './addresses.ts';
import { auditPolicy, dnsRules, nodeCgroup, pauseImage } from './configs.ts';
import {
  apiServer,
  auditPolicyFile,
  controllerManager,
  corefile,
  dns,
  etcd,
  scheduler,
  temporalServer,
} from './control-plane.ts';
import { kubeconfig, kubeconfigFile } from './kubeconfig.ts';
import { imagesOn, importImages, nodeProcesses } from './node.ts';
import { ensureNodeFiles } from './node-files.ts';

const dnsConfig = async (ctx: Context): Promise<string> =>
  dnsRules(kubeconfigFile(ctx, 'coredns'), await readFile('/etc/resolv.conf', 'utf8').catch(() => ''));

async function controlPlane(ctx: Context): Promise<ProcessSpec[]> {
  const bin = await kubernetesBin(ctx);
  return [etcd(ctx, bin), apiServer(ctx, bin), controllerManager(ctx, bin), scheduler(ctx, bin)];
}

/** Every process of the local cluster, in the order of its start. */
export const allProcesses = async (ctx: Context): Promise<ProcessSpec[]> => [
  ...(await controlPlane(ctx)),
  dns(ctx, await kubernetesBin(ctx), await dnsConfig(ctx)),
  temporalServer(ctx),
  ...nodes.flatMap(nodeProcesses),
];

/** kubectl as the administrator. */
export const kubectl = async (ctx: Context, ...args: string[]): Promise<string> =>
  run([join(await kubernetesBin(ctx), 'kubectl'), '--kubeconfig', kubeconfigFile(ctx, 'admin'), ...args]);

export async function startControlPlane(ctx: Context): Promise<void> {
  for (const user of ['admin', 'controller-manager', 'scheduler', 'coredns']) {
    await ensureFile(kubeconfigFile(ctx, user), await kubeconfig(ctx, user), 0o600);
  }
  await ensureFile(auditPolicyFile(ctx), auditPolicy());
  await mkdir(join(ctx.stateDir, 'logs'), { recursive: true });
  await mkdir(join(ctx.stateDir, 'etcd'), { recursive: true, mode: 0o700 });
  for (const process of await controlPlane(ctx)) await ensureRunning(ctx, process);
}

export async function startDns(ctx: Context): Promise<void> {
  const rules = await dnsConfig(ctx);
  await ensureFile(corefile(ctx), rules);
  await kubectl(ctx, 'apply', '-f', join(import.meta.dirname, 'dns.yaml'));
  await ensureRunning(ctx, dns(ctx, await kubernetesBin(ctx), rules));
}

export async function startTemporal(ctx: Context): Promise<void> {
  await mkdir(join(ctx.stateDir, 'temporal'), { recursive: true });
  await ensureRunning(ctx, temporalServer(ctx));
}

/** Starts both nodes side by side, with the image that every Pod needs. */
export async function startNodes(ctx: Context): Promise<void> {
  const bin = await kubernetesBin(ctx);
  const pause = await pauseArchive(ctx);
  const start = async (node: (typeof nodes)[number]): Promise<void> => {
    await ensureNodeCgroup(nodeCgroup(node));
    await ensureNodeFiles(ctx, node, bin);
    const [containerd, ...rest] = nodeProcesses(node);
    if (containerd) await ensureRunning(ctx, containerd);
    if (!(await imagesOn(node)).includes(pauseImage)) await importImages(node, pause);
    // A kubelet exits as long as containerd still looks at the Pods of before.
    for (const process of rest) await ensureRestarted(ctx, process);
  };
  for (const node of nodes) await start(node);
  await until('both nodes Ready', 60, async () => (await readyNodes(ctx)).size === nodes.length);
}

/** Names of the nodes whose condition Ready is True. */
export async function readyNodes(ctx: Context): Promise<Set<string>> {
  const ready = '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const lines = (await kubectl(ctx, 'get', 'nodes', '-o', `jsonpath=${ready}`)).split('\n');
  return new Set(
    lines.map((line) => line.split(' ')).flatMap(([name, status]) => (status === 'True' && name ? [name] : [])),
  );
}
