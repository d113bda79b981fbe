import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { EvictionRules } from '../../activities/facts/evacuation.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { WorkflowPort } from '../../activities/temporal/port.ts';
import type { Logger } from '../shared/logging.ts';
import { Bridge } from './bridge/bridge.ts';
import { newCourier } from './bridge/courier.ts';
import { planSweep, runningWorkflows } from './bridge/sweep.ts';
import type { Informers } from './informers/informers.ts';
import type { ControllerMetrics } from './metrics/metrics.ts';
import { markOutdated, wrongLabels } from './outdated-launchers.ts';

export interface LeadPorts {
  kube: KubePort;
  client: Client;
  workflows: WorkflowPort;
  informers: Informers;
  metrics: ControllerMetrics;
  /** Of the configuration in force. */
  rules: () => EvictionRules;
  /** Asks Temporal who polls; part of the sweep. */
  countPollers: () => Promise<void>;
  sweepMs: number;
  /** Of new launcher Pods. */
  launcherImage: string;
  log: Logger;
}

/** What only the leader does: the bridge and the sweep, from now until the signal. */
export const lead = (ports: LeadPorts, signal: AbortSignal): Bridge => {
  const { kube, informers, metrics, rules, launcherImage, log } = ports;
  const bridge = new Bridge({
    deliver: newCourier(ports),
    instances: () => informers.VirtualMachineInstance.list(),
    nodes: () => informers.Node.list(),
    replicaSets: () => informers.VirtualMachineInstanceReplicaSet.list(),
    virtualMachines: () => informers.VirtualMachine.list(),
    rules,
    onFailure: () => metrics.deliveryFailures.inc(),
    log,
  });
  signal.addEventListener('abort', () => bridge.stop(), { once: true });
  // Whatever happened while nobody led. Claims, quotas and nodes only wake who waits, and whoever waits tries again by itself.
  for (const after of informers.VirtualMachine.list()) bridge.changed({ kind: 'VirtualMachine', after });
  for (const after of informers.VirtualMachineInstance.list())
    bridge.changed({ kind: 'VirtualMachineInstance', after });
  for (const after of informers.VirtualMachineInstanceMigration.list())
    bridge.changed({ kind: 'VirtualMachineInstanceMigration', after });
  for (const after of informers.VirtualMachineInstanceReplicaSet.list())
    bridge.changed({ kind: 'VirtualMachineInstanceReplicaSet', after });
  for (const after of informers.Pod.list()) bridge.changed({ kind: 'Pod', after });
  void markOutdated(
    kube,
    wrongLabels(informers.VirtualMachineInstance.list(), informers.Pod.list(), launcherImage),
    log,
  );
  void keepSweeping(ports, bridge, signal);
  void watchHeartbeats(ports, bridge, signal);
  return bridge;
};

/** How late it may be noticed that a node's worker is silent. */
const HEARTBEAT_CHECK_MS = 10_000;

/** Heartbeats come by the watch and matter to nobody; that they stay away is seen here, and told once. */
const watchHeartbeats = async ({ informers }: LeadPorts, bridge: Bridge, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    for (const node of informers.Node.list()) bridge.look(node);
    await delay(HEARTBEAT_CHECK_MS, undefined, { signal }).catch(() => undefined);
  }
};

const keepSweeping = async (ports: LeadPorts, bridge: Bridge, signal: AbortSignal): Promise<void> => {
  for (;;) {
    await delay(ports.sweepMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await sweep(ports, bridge);
      await ports.countPollers();
    } catch (error) {
      ports.log.warn({ err: error }, 'sweep interrupted; the next one tries again');
    }
  }
};

const sweep = async ({ client, informers, metrics, rules, log }: LeadPorts, bridge: Bridge): Promise<void> => {
  const running = await runningWorkflows(client);
  const plan = planSweep({
    virtualMachines: informers.VirtualMachine.list(),
    instances: informers.VirtualMachineInstance.list(),
    migrations: informers.VirtualMachineInstanceMigration.list(),
    replicaSets: informers.VirtualMachineInstanceReplicaSet.list(),
    nodes: informers.Node.list(),
    rules: rules(),
    running,
    now: Date.now(),
  });
  metrics.objectsWithoutWorkflow.set(plan.withoutWorkflow);
  metrics.workflowsWithoutObject.set(plan.withoutObject);
  if (plan.withoutWorkflow + plan.withoutObject > 0) {
    log.info({ withoutWorkflow: plan.withoutWorkflow, withoutObject: plan.withoutObject }, 'sweep found work');
  }
  bridge.insist(plan.deliveries);
};
