import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { Command, Option } from 'commander';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../../api/contract/search-attributes.ts';
import { temporalAddress } from '../../../deploy/local/cluster/addresses.ts';
import { isWithin, renderFigures } from '../figures.ts';
import { figuresOf } from './figures.ts';
import { Load, NAMESPACE } from './load.ts';
import type { Rate } from './load.ts';
import { insideOwnNetwork } from './network.ts';
import type { Plane } from './plane.ts';
import { withPlane } from './plane.ts';
import type { Cost } from './process-cost.ts';
import { costOf } from './process-cost.ts';
import { percentile } from './percentiles.ts';
import { requestsIn } from './requests.ts';
import type { PlaneOptions } from './system.ts';
import type { WorkflowCost } from './workflows.ts';
import { workflowCosts } from './workflows.ts';

/** Workflows kept in memory by the controller worker: as it is deployed. */
const MAX_CACHED_WORKFLOWS = 500;
/** What follows a VMI's Running (the VM's status, closed operations) belongs to its start. */
const SETTLE_MS = 3_000;
/** What the nodes' heartbeats and everybody's polls take anyway. */
const IDLE_MS = 5_000;
/** So that nothing is compiled or connected for the first time while it is measured. */
const WARM_UP_VMS = 10;

type Measured = 'controller' | 'kube-apiserver' | 'temporal';

interface Options {
  vms: number;
  rate: Rate;
  nodes: number;
  cpuProf?: string;
  output: 'table' | 'json';
}

/** On standard error, so that standard output holds the figures alone. */
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const costs = async (plane: Plane): Promise<Record<Measured, Cost>> => {
  const of = async (part: Measured): Promise<Cost> => costOf(await plane.pid(part));
  return {
    controller: await of('controller'),
    'kube-apiserver': await of('kube-apiserver'),
    temporal: await of('temporal'),
  };
};

const between = (before: Awaited<ReturnType<typeof costs>>, after: typeof before): typeof before => {
  const part = (name: Measured): Cost => ({
    ...after[name],
    cpuSeconds: after[name].cpuSeconds - before[name].cpuSeconds,
  });
  return { controller: part('controller'), 'kube-apiserver': part('kube-apiserver'), temporal: part('temporal') };
};

async function measure(plane: Plane, load: Load, { vms, rate }: Options) {
  const timeoutMs = 120_000 + vms * 2_000;
  progress(`warming up with ${WARM_UP_VMS} VMs`);
  await load.start('warm', WARM_UP_VMS, 'burst', timeoutMs);
  await load.deleteAll(timeoutMs);
  await pause(SETTLE_MS);
  progress(`${vms} VMs ${rate === 'burst' ? 'at once' : `at ${rate}/s`}`);
  const idle = await costs(plane);
  await pause(IDLE_MS);
  const before = await costs(plane);
  const started = await load.start('vm', vms, rate, timeoutMs);
  await pause(SETTLE_MS);
  const cost = between(before, await costs(plane));
  progress(`they ran after ${(percentile(started.latencies, 0.5) / 1000).toFixed(1)} s (P50)`);
  for (const [part, { cpuSeconds }] of Object.entries(cost))
    progress(`${part} took ${cpuSeconds.toFixed(1)} CPU seconds`);
  for (const [part, { cpuSeconds }] of Object.entries(between(idle, before)))
    progress(`idle, ${part} takes ${((cpuSeconds * 1000) / IDLE_MS).toFixed(2)} CPU seconds per second`);
  const to = Date.now();
  progress('deleting all');
  // What was measured before counts, whatever becomes of this.
  const goneMs = await load.deleteAll(timeoutMs).catch((error: unknown) => {
    progress(String(error));
    return NaN;
  });
  await pause(SETTLE_MS);
  const workflows = await costOfWorkflows(new Date(started.from));
  const requests = await requestsIn(plane.auditLogs, started.from, to);
  const ofDeletion = await requestsIn(plane.auditLogs, to, Date.now());
  const run = { vms, rate, started, cost, requests, goneMs, ofDeletion, maxCachedWorkflows: MAX_CACHED_WORKFLOWS };
  return { run, workflows };
}

const TYPES = ['virtualMachine', 'virtualMachineInstance', 'startInstance', 'shutdownInstance'];

/** What a VM is for Temporal from its start to its end, from some of them. */
async function costOfWorkflows(since: Date): Promise<WorkflowCost[]> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection, namespace: DEFAULT_TEMPORAL_NAMESPACE });
    return await workflowCosts(client, TYPES, since, 5);
  } finally {
    await connection.close();
  }
}

async function density(options: Options): Promise<void> {
  progress(`starting a control plane with ${options.nodes} nodes`);
  const plane: PlaneOptions = {
    nodes: options.nodes,
    controllerEnv: { MAX_CACHED_WORKFLOWS: String(MAX_CACHED_WORKFLOWS) },
    ...(options.cpuProf === undefined ? {} : { controllerFlags: ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`] }),
  };
  const { run, workflows } = await withPlane(plane, async (on) => {
    await on.kube.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const load = new Load(on.kube, on.rest);
    await load.open();
    return measure(on.plane, load, options).finally(() => load.close());
  });
  const figures = figuresOf(run);
  const artifacts = join(import.meta.dirname, '../../../artifacts');
  await mkdir(artifacts, { recursive: true });
  const details = { figures, requests: run.requests, workflows, latencies: run.started.latencies };
  await writeFile(join(artifacts, 'bench-density.json'), JSON.stringify(details, null, 2));
  if (options.output === 'json') console.log(JSON.stringify(figures, null, 2));
  else {
    console.log(renderFigures(figures));
    console.table(workflows);
    console.log(`Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}`);
  }
  process.exitCode = figures.every(isWithin) ? 0 : 1;
}

const rateOf = (text: string): Rate => (text === 'burst' ? text : Number(text));

const program = new Command('density')
  .option('--vms <n>', 'how many', Number, 200)
  .option('--rate <n>', 'VMs per second, or "burst" for all at once', rateOf, 10)
  .option('--nodes <n>', 'nodes that are played', Number, 100)
  .option('--cpu-prof <directory>', 'write a CPU profile of the controller worker')
  .addOption(new Option('-o, --output <format>').choices(['table', 'json']).default('table'))
  .action(async (options: Options) => {
    const code = await insideOwnNetwork(() => density(options));
    if (code !== undefined) process.exitCode = code;
  });

await program.parseAsync();
process.exit();
