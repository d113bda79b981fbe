import { join } from 'node:path';
import { execa } from 'execa';
import { answers } from '../probe.ts';
import type { ProcessSpec } from '../process.ts';
import { run, succeeds } from '../shell.ts';
import type { NodeSpec } from './addresses.ts';
import { cniConfig, containerdConfig, kubeletConfig, onNode, proxyConfig } from './configs.ts';
import { flags } from './control-plane.ts';
import { enterNode } from './node-files.ts';

const ctr = (node: NodeSpec): string[] => [...enterNode(node), 'ctr', '--namespace', 'k8s.io'];

const containerd = (node: NodeSpec): ProcessSpec => ({
  name: `${node.name}/system/containerd`,
  enter: enterNode(node),
  command: ['/usr/bin/containerd', '--config', onNode.containerdConfig],
  reads: [containerdConfig(), cniConfig(node)],
  address: `${onNode.containerdSocket} on ${node.name}`,
  readyWithin: 30,
  ready: () => succeeds([...ctr(node), 'version']),
});

const kubelet = (node: NodeSpec): ProcessSpec => ({
  name: `${node.name}/system/kubelet`,
  enter: enterNode(node),
  command: [
    join(onNode.bin, 'kubelet'),
    ...flags({
      config: onNode.kubeletConfig,
      kubeconfig: onNode.kubeletKubeconfig,
      'hostname-override': node.name,
      'node-ip': node.address,
    }),
  ],
  reads: [kubeletConfig(node)],
  address: `https://${node.address}:10250`,
  readyWithin: 60,
  ready: () => answers(`http://${node.address}:10248/healthz`),
});

const kubeProxy = (node: NodeSpec): ProcessSpec => ({
  name: `${node.name}/system/kube-proxy`,
  enter: enterNode(node),
  command: [join(onNode.bin, 'kube-proxy'), ...flags({ config: onNode.proxyConfig })],
  reads: [proxyConfig(node)],
  address: `http://${node.address}:10256`,
  readyWithin: 60,
  ready: () => answers(`http://${node.address}:10256/healthz`),
});

/** What runs on a node besides Pods, in the order of its start. */
export const nodeProcesses = (node: NodeSpec): ProcessSpec[] => [containerd(node), kubelet(node), kubeProxy(node)];

/** Names of the images that a node's containerd holds. */
export const imagesOn = async (node: NodeSpec): Promise<string[]> =>
  (await run([...ctr(node), 'images', 'list', '--quiet'])).split('\n');

/** Digests of the content that a node's containerd holds: `sha256:…`, layers among it. */
export const contentOn = async (node: NodeSpec): Promise<string[]> =>
  (await run([...ctr(node), 'content', 'list', '--quiet'])).split('\n');

/** Loads the images of a docker-archive or OCI tar into a node's containerd. */
export async function importImages(node: NodeSpec, archive: string): Promise<void> {
  const [file = '', ...args] = [...ctr(node), 'images', 'import', '-'];
  await execa(file, args, { inputFile: archive });
}

/** Gives an image of a node's containerd a second name. */
export async function nameImage(node: NodeSpec, image: string, name: string): Promise<void> {
  await run([...ctr(node), 'images', 'tag', '--force', image, name]);
}
