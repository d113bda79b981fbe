import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { apiServerUrl, hostAddress, temporalAddress } from '../../../deploy/local/cluster/addresses.ts';
import { kubeconfigFile } from '../../../deploy/local/cluster/kubeconfig.ts';
import { certFile } from '../../../deploy/local/cluster/pki.ts';
import type { Context } from '../../../deploy/local/context.ts';
import { answers } from '../../../deploy/local/probe.ts';
import type { ProcessSpec } from '../../../deploy/local/process.ts';
import { run } from '../../../deploy/local/shell.ts';
import { kwokBin } from '../../../deploy/local/steps/kwok.ts';

const NODES_PORT = 9808;
const ROOT = join(import.meta.dirname, '../../..');

export interface PlaneOptions {
  /** How many nodes are played. */
  nodes: number;
  /** Further variables of the controller worker. */
  controllerEnv?: Record<string, string>;
  /** Further flags of its Node. */
  controllerFlags?: string[];
}

/** Plays the kubelets. */
export const kwok = (ctx: Context): ProcessSpec => ({
  name: 'density/kwok',
  command: [
    kwokBin(ctx),
    ...['--kubeconfig', kubeconfigFile(ctx, 'admin'), '--config', join(import.meta.dirname, 'stages.yaml')],
    ...['--manage-nodes-with-annotation-selector', 'kwok.x-k8s.io/node=fake', '--node-lease-duration-seconds', '40'],
    ...['--server-address', `${hostAddress}:10247`],
  ],
  address: `http://${hostAddress}:10247`,
  readyWithin: 30,
  ready: () => answers(`http://${hostAddress}:10247/healthz`),
});

/** virtflow as deploy/ has it, but for its Pods: the controller worker and the workers of all nodes are processes of this machine. */
export const systemOf = (ctx: Context, bin: string) => {
  const kubectl = (args: string[], input?: string): Promise<string> =>
    run(
      [join(bin, 'kubectl'), '--kubeconfig', kubeconfigFile(ctx, 'admin'), ...args],
      input === undefined ? {} : { input },
    );
  const temporal = { TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: 'virtflow' };
  const node = (env: Record<string, string>, ...args: string[]) => ({
    enter: [
      'env',
      ...Object.entries({
        NODE_NO_WARNINGS: '1',
        NODE_COMPILE_CACHE: join(ctx.cacheDir, 'density-compile-cache'),
        ...temporal,
        ...env,
      }).map(([key, value]) => `${key}=${value}`),
    ],
    command: [process.execPath, ...args] as [string, ...string[]],
  });
  /** Credentials of one of virtflow's service accounts. */
  const asAccount = async (account: string): Promise<string> => {
    const token = await kubectl(['create', 'token', account, '-n', 'virtflow', '--duration=24h']);
    const file = kubeconfigFile(ctx, account);
    const cluster = { server: apiServerUrl, 'certificate-authority': certFile(ctx, 'ca') };
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'density', cluster }],
      users: [{ name: account, user: { token } }],
      contexts: [{ name: 'density', context: { cluster: 'density', user: account } }],
      'current-context': 'density',
    };
    await writeFile(file, stringify(content), { mode: 0o600 });
    return file;
  };
  return {
    async deploy(): Promise<void> {
      const apply = ['apply', '--server-side', '--force-conflicts'];
      await kubectl([...apply, '-k', join(ROOT, 'deploy/crds')]);
      await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
      await kubectl([...apply, '-k', join(ROOT, 'deploy/base')]);
      await kubectl([...apply, '-f', '-'], stringify(endpoints));
      const setup = node({}, join(ROOT, 'cli/main.ts'), 'temporal', 'setup');
      await run([...setup.enter, ...setup.command]);
    },
    async fakeNodes(count: number): Promise<ProcessSpec> {
      const env = {
        KUBECONFIG: await asAccount('virtflow-node'),
        ADMIN_KUBECONFIG: kubeconfigFile(ctx, 'admin'),
        NODES: String(count),
        HEALTH_PORT: String(NODES_PORT),
      };
      return {
        name: 'density/nodes',
        ...node(env, join(import.meta.dirname, 'fake-nodes.ts')),
        address: `http://${hostAddress}:${NODES_PORT}`,
        readyWithin: 120,
        ready: () => answers(`http://${hostAddress}:${NODES_PORT}/readyz`),
      };
    },
    async controller({ controllerEnv = {}, controllerFlags = [] }: PlaneOptions): Promise<ProcessSpec> {
      const bundle = join(ctx.stateDir, 'workflow-bundle.js');
      const make = [join(ROOT, 'deploy/images/bundle-workflows.mjs'), join(ROOT, 'workflows/index.ts'), bundle];
      await run([process.execPath, ...make], { cwd: ROOT });
      const lean = pathToFileURL(join(ROOT, 'workers/controller/workflow-thread/lean.ts')).href;
      const env = {
        KUBECONFIG: await asAccount('virtflow-controller'),
        NODE_ENV: 'production',
        LAUNCHER_IMAGE: 'virtflow/launcher:density',
        VIRTFLOW_WORKFLOW_BUNDLE: bundle,
        ...controllerEnv,
      };
      return {
        name: 'density/controller',
        ...node(env, ...controllerFlags, `--import=${lean}`, join(ROOT, 'workers/controller/main.ts')),
        address: `http://${hostAddress}:8080`,
        readyWithin: 120,
        ready: () => answers(`http://${hostAddress}:8080/readyz`),
      };
    },
  };
};

/** Where the API server finds webhooks and subresources: nobody looks for Pods behind the Service here. */
const endpoints = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'virtflow-api', namespace: 'virtflow', labels: { 'kubernetes.io/service-name': 'virtflow-api' } },
  addressType: 'IPv4',
  ports: [{ name: 'https', port: 9443, protocol: 'TCP' }],
  endpoints: [{ addresses: [hostAddress], conditions: { ready: true } }],
};
