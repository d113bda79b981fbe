import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControlPlane, startDns, startNodes, startTemporal } from '../cluster/cluster.ts';
import { ensureNetwork } from '../cluster/network.ts';
import { ensurePki } from '../cluster/pki.ts';
import { createContext } from '../context.ts';
import type { Step } from '../context.ts';
import { aptPackages, testPackages } from '../steps/apt.ts';
import { commandsInPath } from '../steps/commands.ts';
import type { Section } from './test.ts';
import { guest } from '../steps/guest.ts';
import { images, imagesOnNodes } from '../steps/images.ts';
import { kubernetes } from '../steps/kubernetes.ts';
import { kwok } from '../steps/kwok.ts';
import { pause } from '../steps/pause.ts';
import { temporal } from '../steps/temporal.ts';
import { temporalNamespace } from '../steps/temporal-namespace.ts';
import { virtflow } from '../steps/virtflow.ts';

const again = `run ./dev down and then this again; logs are in ${join(createContext().stateDir, 'logs')}`;

const cluster: readonly Step[] = [
  { title: 'Make keys and certificates', run: ensurePki, remedy: 'check that openssl works' },
  {
    title: 'Make the network: a bridge and a network namespace per node',
    run: ensureNetwork,
    remedy: 'check that this machine allows network namespaces (ip netns add test) and that 10.99.0.0/24 is free',
  },
  { title: 'Start etcd, API server, controller manager, scheduler', run: startControlPlane, remedy: again },
  { title: 'Start cluster DNS', run: startDns, remedy: again },
  { title: 'Start Temporal', run: startTemporal, remedy: again },
  { title: 'Start the nodes: containerd, kubelet, kube-proxy', run: startNodes, remedy: again },
];

/** What only has to be downloaded or built once. */
const tools: readonly Step[] = [aptPackages, temporal, kubernetes, pause, guest, images];

/** Marks the cache as filled: the next time less disk space is demanded. Read by preflight.sh. */
const complete: Step = {
  title: 'Note that the set-up is complete',
  run: (ctx) => writeFile(join(ctx.cacheDir, '.complete'), ''),
  remedy: again,
};

export const upSteps: readonly Step[] = [
  ...tools,
  ...cluster,
  imagesOnNodes,
  commandsInPath,
  temporalNamespace,
  virtflow,
  complete,
];

/** Benchmarks also run libvirt outside of any container. */
export const benchSteps: readonly Step[] = [testPackages, ...upSteps];

/** Density and soak start a control plane of their own, without images or nodes. */
export const benchApartSteps: readonly Step[] = [aptPackages, temporal, kubernetes, kwok];

/** What must be set up before these sections of the tests can run: nothing for those that only read the sources. */
export function testSteps(asked: readonly Section[]): readonly Step[] {
  if (asked.includes('e2e')) return benchSteps;
  const needed = (step: Step, ...by: Section[]): Step[] =>
    by.some((section) => asked.includes(section)) ? [step] : [];
  return [
    ...needed(aptPackages, 'integration'),
    ...needed(testPackages, 'integration'),
    ...needed(temporal, 'workflow', 'replay', 'integration'),
    ...needed(guest, 'integration'),
  ];
}
