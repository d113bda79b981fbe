import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import { restOf } from '../../../activities/kube/rest.ts';
import { auditPolicy } from '../../../deploy/local/cluster/configs.ts';
import {
  apiServer,
  auditPolicyFile,
  controllerManager,
  etcd,
  scheduler,
  temporalEnvironment,
  temporalServer,
} from '../../../deploy/local/cluster/control-plane.ts';
import { kubeconfig, kubeconfigFile } from '../../../deploy/local/cluster/kubeconfig.ts';
import { ensurePki } from '../../../deploy/local/cluster/pki.ts';
import type { Context } from '../../../deploy/local/context.ts';
import { createContext } from '../../../deploy/local/context.ts';
import type { ProcessSpec } from '../../../deploy/local/process.ts';
import { ensureRunning, findRunning, stop } from '../../../deploy/local/process.ts';
import { kubernetesBin } from '../../../deploy/local/steps/kubernetes.ts';
import type { PlaneOptions } from './system.ts';
import { kwok, systemOf } from './system.ts';

/** The benchmark's own state, beside that of the local cluster. */
const densityContext = (): Context => {
  const ctx = createContext();
  return { ...ctx, stateDir: join(ctx.stateDir, 'density') };
};

export type Part = 'etcd' | 'kube-apiserver' | 'temporal' | 'controller' | 'nodes' | 'kwok' | 'kube-scheduler';

/** A control plane of its own with nodes that KWOK plays, in the network namespace of this process: at the addresses of the local cluster, and apart from it. */
export interface Plane {
  /** @throws when that process has ended */
  pid(part: Part): Promise<number>;
  auditLogs: string;
  stop(): Promise<void>;
}

/** Of the controller manager what this cluster lives by: no Pods of DaemonSets on nodes that do not exist. */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'node-lifecycle-controller',
  'clusterrole-aggregation-controller',
];

async function startPlane(ctx: Context, options: PlaneOptions): Promise<Plane> {
  await rm(ctx.stateDir, { recursive: true, force: true });
  await mkdir(join(ctx.stateDir, 'logs'), { recursive: true });
  await mkdir(join(ctx.stateDir, 'temporal'), { recursive: true });
  await mkdir(join(ctx.stateDir, 'etcd'), { recursive: true, mode: 0o700 });
  await ensurePki(ctx);
  for (const user of ['admin', 'controller-manager', 'scheduler']) {
    await writeFile(kubeconfigFile(ctx, user), await kubeconfig(ctx, user), { mode: 0o600 });
  }
  await writeFile(auditPolicyFile(ctx), auditPolicy());
  const bin = await kubernetesBin(ctx);
  const started: ProcessSpec[] = [];
  const start = async (spec: ProcessSpec): Promise<void> => {
    const own = { ...spec, name: spec.name.replace(/^.*\//, 'density/') };
    started.push(own);
    await ensureRunning(ctx, own);
  };
  const stopAll = async (): Promise<void> => {
    for (const spec of started.toReversed()) {
      const running = await findRunning(ctx, spec);
      if (running !== undefined) await stop(running);
    }
  };
  try {
    await start(etcd(ctx, bin));
    await start(apiServer(ctx, bin));
    const manager = controllerManager(ctx, bin);
    await start({ ...manager, command: [...manager.command, `--controllers=${CONTROLLERS.join(',')}`] });
    await start(scheduler(ctx, bin));
    await start({ ...temporalServer(ctx), enter: temporalEnvironment });
    const system = systemOf(ctx, bin);
    await system.deploy();
    await start(kwok(ctx));
    await start(await system.fakeNodes(options.nodes));
    await start(await system.controller(options));
  } catch (error) {
    await stopAll();
    throw error;
  }
  return {
    auditLogs: join(ctx.stateDir, 'logs'),
    pid: async (part) => {
      const spec = started.find(({ name }) => name === `density/${part}`);
      const running = spec && (await findRunning(ctx, spec));
      if (running === undefined) throw new Error(`${part} has ended: see ${join(ctx.stateDir, 'logs/density')}`);
      return running.pid;
    },
    stop: stopAll,
  };
}

/** What works on a plane: its processes, and its API server as the administrator has it. */
export interface OnPlane {
  plane: Plane;
  kube: KubePort;
  rest: Rest;
}

/** Starts a control plane, works on it and stops it: also when the work fails, or a signal ends this process. */
export async function withPlane<T>(options: PlaneOptions, work: (on: OnPlane) => Promise<T>): Promise<T> {
  const ctx = densityContext();
  const plane = await startPlane(ctx, options);
  const interrupted = (): void => void plane.stop().finally(() => process.exit(130));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupted);
  try {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfigFile(ctx, 'admin'));
    const rest = restOf(config);
    return await work({ plane, kube: kubeClient(rest), rest });
  } finally {
    await plane.stop();
  }
}
