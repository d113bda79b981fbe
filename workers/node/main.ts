import { Context } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';
import { kubeClient } from '../../activities/kube/client.ts';
import { defaultKubeConfig, restOf } from '../../activities/kube/rest.ts';
import { runCommand } from '../../activities/node/commands.ts';
import { imageCache } from '../../activities/node/container-disks/cache.ts';
import { mountsOver } from '../../activities/node/container-disks/mounts.ts';
import { nodeActivities } from '../../activities/node/index.ts';
import type { NodePorts } from '../../activities/node/index.ts';
import type { Launchers } from '../../activities/node/launcher-client/client.ts';
import { launchersIn } from '../../activities/node/launcher-client/client.ts';
import type { RunningProxy } from '../../activities/node/migration-proxy/index.ts';
import { migrationProxy } from '../../activities/node/migration-proxy/index.ts';
import { podNetwork } from '../../activities/node/network/setup.ts';
import { processTable } from '../../activities/node/pods/processes.ts';
import { domainReported } from '../../api/contract/entities.ts';
import { GUEST_ACCESS_PORT } from '../../api/contract/guest-access.ts';
import { instanceId } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { Health, serveHealth, workerCheck } from '../shared/health.ts';
import { createLogger } from '../shared/logging.ts';
import { createRegistry, installRuntime, metricsPage } from '../shared/metrics.ts';
import { orStop, runMain, runWorkers } from '../shared/run.ts';
import { awaitSetup } from '../shared/setup-check.ts';
import type { Temporal } from '../shared/temporal.ts';
import { connectTemporal } from '../shared/temporal.ts';
import { nodeCredentials } from './certificates/credentials.ts';
import { certificateMetrics } from './certificates/metrics.ts';
import type { NodeConfig } from './config.ts';
import { readConfig } from './config.ts';
import { devicesFor, presentDevices } from './device-plugin/devices.ts';
import { keepRegistered } from './device-plugin/registration.ts';
import { guardFence } from './fence/guard.ts';
import { guestAccess } from './guest-access/index.ts';
import { watchClusterConfig } from './kubernetes/cluster-config.ts';
import { keepHeartbeat } from './kubernetes/heartbeat.ts';
import { readCapabilities } from './labels/capabilities.ts';
import { keptLabels } from './labels/kept.ts';
import { holdBack } from './launchers/hold-back.ts';
import { deliverTo } from './launchers/delivery.ts';
import { discoverLaunchers } from './launchers/discovery.ts';
import { followLauncher } from './launchers/subscription.ts';
import { nodeMetrics } from './metrics.ts';
import { queuesOf } from './queues.ts';
import { keepSwept } from './sweep.ts';

const config = readConfig(process.env);
const log = createLogger('node', config.logLevel).child({ node: config.node });

/** A watch may be silent for as long as it lasts. */
const SILENCE_MS = 400_000;

const portsOf = (
  { node, pods, imageCache: cache, imageView: view }: NodeConfig,
  signal: AbortSignal,
): Omit<NodePorts, 'proxy'> => {
  const config = defaultKubeConfig();
  return {
    node,
    pods,
    kube: kubeClient(restOf(config)),
    clusterConfig: watchClusterConfig(restOf(config, { silenceMs: SILENCE_MS }), log, signal),
    launchers: launchersIn(pods, node),
    awaited: new Map(),
    processes: processTable(),
    network: podNetwork(runCommand),
    images: imageCache(cache),
    mounts: mountsOver({ run: runCommand, cache, view }),
    progress: () => {
      const context = Context.current();
      return { heartbeat: (detail) => context.heartbeat(detail), cancelled: context.cancellationSignal };
    },
  };
};

/** A command to a launcher that nobody follows yet makes discovery look at once. */
const noticing = (launchers: Launchers, notice: () => void): Launchers => ({
  async connect(podUid, signal) {
    const launcher = await launchers.connect(podUid, signal);
    notice();
    return launcher;
  },
});

const createWorkers = (ports: NodePorts, { connection, namespace }: Temporal): Promise<Worker[]> => {
  const workers = queuesOf(ports.node).map((queue) =>
    Worker.create({
      ...{ connection, namespace, ...queue },
      activities: { ...nodeActivities(ports) },
      // A cancellation reaches an activity with its heartbeat's answer: soon.
      defaultHeartbeatThrottleInterval: '5s',
      maxHeartbeatThrottleInterval: '5s',
      // Activities that are cut off are tried again elsewhere or later: they converge.
      shutdownGraceTime: '5s',
      shutdownForceTime: '15s',
    }),
  );
  return Promise.all(workers);
};

await runMain(log, async (signal) => {
  installRuntime(log, config.temporalMetricsPort);
  const local = portsOf(config, signal);
  const health = new Health();
  const register = createRegistry();
  const report = (missing: string | undefined): void =>
    health.set('temporal', () => ({ ok: missing === undefined, detail: missing ?? 'connected' }));
  report('not connected yet');

  const capabilities = readCapabilities(config.capabilities);
  const registration = keepRegistered({
    directory: config.devicePlugins,
    devices: async () => presentDevices(config.hostRoot, devicesFor(await capabilities)),
    log,
    signal,
  });
  health.set('kubelet', () => registration.state());
  const guard = guardFence({ node: config.node, ports: local, log, signal });
  health.set('fence', guard.check);
  // A sign of life says, too, that nothing runs here that may run elsewhere by now.
  const heartbeat = keepHeartbeat({
    after: guard.clear,
    node: config.node,
    kube: local.kube,
    schedulable: () => registration.state().ok && guard.isOpen(),
    labels: keptLabels(capabilities, config.cpuManagerState, local.clusterConfig, log),
    seen: guard.saw,
    log,
    signal,
  });

  const credentials = nodeCredentials({
    node: config.node,
    kube: local.kube,
    namespace: config.namespace,
    directory: config.certificates,
    log,
    signal,
  });
  const proxy = migrationProxy({
    ...config.migration,
    pods: config.pods,
    credentials,
    launchers: local.launchers,
    log,
    signal,
  });
  health.set('migration port', () => {
    const trouble = proxy.trouble();
    return { ok: trouble === undefined, detail: trouble ?? `listening; ${credentials.detail()}` };
  });
  await proxy.reopen();
  const guests = guestAccess({
    ports: local,
    address: config.migration.address,
    port: GUEST_ACCESS_PORT,
    credentials,
    log,
    signal,
  });
  health.set('guest access', () => {
    const trouble = guests.trouble();
    return { ok: trouble === undefined, detail: trouble ?? 'listening' };
  });
  const ports: NodePorts & { proxy: RunningProxy } = { ...local, proxy };

  // Launchers are followed from the start; reports wait until Temporal can be reached.
  const temporal = connectTemporal(log, signal, report);
  const delivery = deliverTo({
    send: async (report) => {
      const { client } = await temporal;
      await client.workflow.getHandle(instanceId(report.vmi)).signal(domainReported, report);
    },
    log,
    signal,
  });
  const answer = (podUid: string): Promise<DomainReport | undefined> | undefined => ports.awaited.get(podUid);
  const offer = holdBack({ offer: delivery.offer, answer });
  const follow = {
    ...ports,
    answer,
    report: (report: DomainReport) => {
      offer(report);
      guests.reported(report);
    },
    log,
  };
  const swept = keepSwept(ports, log, signal);
  const discovery = discoverLaunchers({
    pods: config.pods,
    follow: (podUid, until) =>
      followLauncher(podUid, follow, until)
        .then(() => guests.podEnded(podUid))
        .finally(swept.soon),
    log,
    signal,
  });

  nodeMetrics(register, { discovery, delivery, proxy, guests });
  certificateMetrics(register, credentials);
  const server = await serveHealth(config.healthPort, health, metricsPage(register, config.temporalMetricsPort));
  log.info({ config }, 'node worker started');

  try {
    const connected = await temporal;
    await awaitSetup(connected, report, log, signal);
    await orStop(guard.clear, signal);
    const workers = await createWorkers(
      { ...ports, launchers: noticing(ports.launchers, discovery.lookNow) },
      connected,
    );
    for (const worker of workers) health.set(`queue ${worker.options.taskQueue}`, workerCheck(worker));
    await runWorkers(workers, signal);
  } finally {
    await server.close();
    // A stop takes the node out of scheduling, however far the start had come.
    if (signal.aborted) await heartbeat;
  }
  await Promise.all([
    proxy.done,
    guests.done,
    credentials.done,
    registration.done,
    guard.done,
    discovery.done,
    swept.done,
    delivery.settled(),
  ]);
});
